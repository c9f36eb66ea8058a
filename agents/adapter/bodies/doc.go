// Package bodies reads and writes the bodies of requests to chat APIs: messages, and lists of them
// in objects, in all the ways in which people keep them in files. Packages openai and anthropic
// say what a message of theirs is; all else is here, once.
//
// Files, from top to bottom:
//
//	bodies.go  the conversations of a file, and their messages as records
//	reads.go   whether most of a file is understood
//	file.go    the elements of a file: an array, lines, JSON values behind each other
//	write.go   the way back, element by element
package bodies
