package calls

import "fmt"

const (
	maxNameBytes = 64
	maxIDBytes   = 40
)

// Name returns a name for a tool that every provider accepts: at most 64 ASCII letters, digits,
// "_", and "-", the first of them a letter or "_". It returns a valid name unchanged.
func Name(name string) string {
	if name == "" {
		return "unknown_tool"
	}
	clean := []byte(name)
	for i, c := range clean {
		if !isWord(c) {
			clean[i] = '_'
		}
	}
	if c := clean[0]; c == '-' || c >= '0' && c <= '9' {
		clean = append([]byte{'_'}, clean...)
	}
	return string(clean[:min(len(clean), maxNameBytes)])
}

// isWord reports whether a byte may be in a name or an id.
func isWord(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// IsID reports whether every provider accepts the id of a call.
func IsID(id string) bool {
	for i := range len(id) {
		if !isWord(id[i]) {
			return false
		}
	}
	return id != "" && len(id) <= maxIDBytes
}

// IDs are the ids of the calls in a request.
type IDs map[string]bool

// Take returns id if every provider accepts it and no call has it yet. Otherwise it returns
// another, or another with a number, which must be short and valid.
func (s IDs) Take(id, another string) string {
	if !IsID(id) || s[id] {
		id = another
	}
	for n := 2; s[id]; n++ {
		id = fmt.Sprintf("%s_%d", another, n)
	}
	s[id] = true
	return id
}
