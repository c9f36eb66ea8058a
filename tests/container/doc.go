// Package container holds the tests that give the mount to a container as a
// volume. The container is a real one: podman with runc on a root file system
// that holds nothing but busybox. docs/containers.md is the script: its
// commands are run as they stand there and must print what it says.
package container
