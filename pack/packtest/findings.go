package packtest

import "encoding/json"

// Findings keeps what was found in a history, in memory: a [finds.Keeper] but for Head.
type Findings struct{ lines [][]byte }

// Load calls add with each line, and returns which records the last one goes up to. Where add does not take one it forgets them all.
// It returns an error when a line is not one of findings.
func (k *Findings) Load(add func(line []byte) bool) (places, tools int, err error) {
	for _, line := range k.lines {
		if !add(line) {
			k.Remove()
			return 0, 0, nil
		}
		var of struct{ To, Tools int }
		if err := json.Unmarshal(line, &of); err != nil {
			return 0, 0, err
		}
		places, tools = of.To, of.Tools
	}
	return places, tools, nil
}

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
