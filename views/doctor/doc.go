// Package doctor checks whether a mount works on this machine, for `ctxfs doctor` and health
// checks. [Examine] gets a store, a mountpoint, and the program, and returns findings. Each
// [Finding] that is not [OK] has a remedy to type, if one exists. [Serves] is the health check of
// one mount.
//
//	Examine (doctor.go) → checkSystem (system.go): kernel, /dev/fuse, fusermount3
//	                    → checkStore, checkMountpoint, checkMounts (store.go)
//	                    → checkStrays (stray.go)
//	                    → checkHost (host.go): version, systemd units, mount helper, fstab, Docker
//
// Decisions: oldest kernel: oldestKernel (system.go). Low disk space: fewBytes, fewInodes
// (store.go). Severity of a finding (OK, Note, Missing): doctor.go; findings of host.go are never
// Missing. Import command for stray records: importStray (stray.go).
//
// Checks change nothing and do not touch a mount before its daemon has answered. A check that
// cannot look reports that as its finding.
//
// # Files, from top to bottom
//
//	doctor.go  Examine, Serves
//	host.go    integration into the machine
//	store.go   store, mountpoints, descriptors
//	stray.go   records written at a mountpoint without a mount
//	system.go  kernel, /dev/fuse, fusermount3
package doctor
