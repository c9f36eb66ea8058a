// Package coder encodes and decodes the binary formats of caches. One function per type does both,
// so that reading matches writing: the zero [Coder] writes, a Coder with Reads set reads the same
// values in the same order.
//
// The format is decided in coder.go: integers are varints, texts and lists begin with their length,
// and optional values with a flag. If the data does not fit, Bad is set and all further values are
// zero. The caller adds a version in front and handles a bad cache.
package coder
