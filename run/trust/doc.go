// Package trust reads and edits the trust file of the calling user in a mount, for `ctxfs trust`.
// The file lists recipes of other users that may run programs as this user, and the files that
// their commands name. A row is a path in the mount and the SHA-256 of the trusted content, so an
// edit of the file ends its trust.
//
//	In(mountpoint) → File → Add, Revoke, List → home/<uid>/trust.jsonl in the mount
//
// All code is in trust.go. It decides which rows Add writes, which rows Revoke removes with a
// recipe, and which status List shows ("trusted", "changed", "gone", "unreadable"). Package
// pack/source decides the permissions that a row gives (pack/source/trust.go). Package fs sets the
// access mode of the file (fs/trust_node.go).
//
// Add and Revoke hold a lock on the user's home, so that two commands of one user do not overwrite
// each other's rows. A write replaces the whole file. The caller checks first that the daemon of
// the mount answers.
package trust
