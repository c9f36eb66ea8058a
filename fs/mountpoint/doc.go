// Package mountpoint prepares a directory for a mount and cleans it up afterwards, for package fs
// and for the commands that mount, unmount, and diagnose. [Prepare] gets a store and a mountpoint
// and returns the [Bare] directory that the mount will hide, or an error that names the remedy.
//
//	Prepare (mountpoint.go) → mount by fs → Bare.Collect (stray.go) → Bare.Protect (bare.go)
//	Unmount or Detach (mountpoint.go) → Lift (bare.go)
//
// Without a mount, a mountpoint is an ordinary directory, and programs that write into it believe
// that they append to a session. Therefore the daemon moves stray files to the store and protects
// the bare directory until the mountpoint is no longer used.
//
// Decisions:
//
//   - Requirements of the machine, nesting of store and mountpoint, and leftovers of dead daemons:
//     prerequisites, notNested, and Repair (mountpoint.go).
//   - Text of a mount error of the kernel or of fusermount3: Explain (mountpoint.go).
//   - Files that make a mountpoint unusable, and files that count as stray instead: Foreign; the
//     target directory of stray files: newStray (stray.go).
//   - Kind of protection: Bare.Protect sets the immutable flag as root and clears the write
//     permissions otherwise. A note in the store records the change for Lift (bare.go).
//
// # Files, from top to bottom
//
//	mountpoint.go  Prepare, Unmount, Detach, errors of a mount
//	stray.go       files that programs wrote into the bare directory
//	bare.go        the bare directory and its protection
package mountpoint
