// Package mountpoint is what a mount needs of the machine: whether a directory can become a mountpoint, what a kernel or
// fusermount3 that refuses means, and how a mountpoint is given up again.
package mountpoint
