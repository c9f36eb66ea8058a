// Package trust keeps what the calling user trusts in a mount: recipes of others that may run programs as this user, and
// the files that their commands name. A row of the trust file is a path in the mount and the hash of the content that was
// trusted, so an edit ends the trust in a file. What follows from it is decided in pack/source.
//
// The file belongs to one user and is changed as a whole, under a lock that keeps other commands of that user away.
// Whoever uses this package asks the daemon of the mount first whether it answers.
package trust
