// Package inputs opens the files that a user names on a command line. It refuses files that block
// the reader or never end, such as FIFOs and devices. It knows nothing about their contents.
package inputs
