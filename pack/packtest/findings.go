package packtest

// Findings stores lines in memory: a [prefix.Lines] without History and Head.
type Findings struct{ lines [][]byte }

// Each calls do with each line until that returns false; it returns no error.
func (k *Findings) Each(do func(line []byte) bool) error {
	for _, line := range k.lines {
		if !do(line) {
			break
		}
	}
	return nil
}

// Append keeps a line; it returns no error.
func (k *Findings) Append(line []byte) error {
	k.lines = append(k.lines, line)
	return nil
}

// Remove forgets all lines.
func (k *Findings) Remove() { k.lines = nil }
