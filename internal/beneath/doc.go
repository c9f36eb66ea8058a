// Package beneath opens files below a directory in which other users control the names.
//
// The daemon may run as root while the owner of a home can replace any directory with a symbolic
// link at any moment. Therefore no path of the store goes to the kernel as one string to follow: it
// is opened relative to the descriptor of a directory, and the result is always an inode below that
// directory.
//
//	root descriptor, relative path → openat2 with RESOLVE_BENEATH → descriptor
//	                                 without openat2: Walk, one component at a time
//
// # Decisions
//
// All of them are in beneath.go:
//
//   - symbolic links: [Open] follows none; [Follow] follows links that stay below the root
//   - kernels and seccomp filters without openat2: refused, [Walk]
//   - paths longer than PATH_MAX: openLong; the current path of an open file: [Real]
//
// Errors are the errno values of the kernel: ELOOP for a link, EXDEV for a path that leaves the
// root. errors.Is finds fs.ErrNotExist and fs.ErrPermission. All opens go through package handles.
package beneath
