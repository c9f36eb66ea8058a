package figures

import "fmt"

// Thousands writes a number with commas.
func Thousands(n int) string {
	s := fmt.Sprint(max(n, -n))
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if n < 0 {
		s = "−" + s
	}
	return s
}

// Count returns "1 message", "3,000 messages".
func Count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return Thousands(n) + " " + what
}
