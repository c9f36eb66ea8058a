// Package native has the format of a session itself as one file, for another ctxfs: its records,
// byte by byte.
package native
