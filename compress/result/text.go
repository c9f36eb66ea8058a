package result

// prose shows the first and the last lines and those between them that cover the most identifiers and words.
func (r *result) prose() (string, bool) {
	s, ok := r.newSheet(r.text)
	if !ok {
		return "", false
	}
	s.showAll(0, len(s.lines), 0.15)
	s.showAll(len(s.lines), 0, 0.12)
	s.cover(s.all(), 1, nil)
	s.rest()
	return s.write("")
}
