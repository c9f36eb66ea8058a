package ctxabi

// What reads JSON that is no record, such as the transcripts of others, can
// have the scan of records with a bound of its own.

// EachField calls field with each key, still quoted, and each value of the
// JSON object that is all of b, but for blanks around it. Both are parts of b.
// ok is false when b is none, or when its values are nested more than depth
// deep, the object counted; field may have been called before.
func EachField(b []byte, depth int, field func(key, value []byte)) (ok bool) {
	s := scanner{b: b, maxDepth: depth}
	s.blanks()
	return s.peek() == '{' && s.object(1, field) && s.atEnd()
}

// EachElement calls element with each value of the JSON list that is all of b,
// but for blanks around it: parts of b, in their order. ok is as of [EachField]; where it is
// false, the values in front of the mistake were given.
func EachElement(b []byte, depth int, element func(value []byte)) (ok bool) {
	s := scanner{b: b, maxDepth: depth}
	s.blanks()
	return s.peek() == '[' && s.array(1, element) && s.atEnd()
}

// IsCompact reports whether b is one JSON value without any blanks between its
// tokens, nested at most depth deep.
func IsCompact(b []byte, depth int) bool {
	s := scanner{b: b, maxDepth: depth}
	return s.value(1) && s.i == len(b) && !s.spaced
}

func (s *scanner) atEnd() bool {
	s.blanks()
	return s.i == len(s.b)
}
