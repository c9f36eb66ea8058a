package result

// FailureLine reports whether a line of a log names what failed, or tells what went wrong.
func FailureLine(line string) (names, tells bool) {
	c := classify(line)
	return c == className, c == classMessage
}
