package ctxabi

import "strings"

// EnvVar is one NAME=value of context/env.
type EnvVar struct{ Name, Value string }

// ParseEnv reads context/env: NAME=value lines in order; blanks around a line and around
// the name do not count, all behind the = is the value, quotes included. Blank lines and
// those that begin with # are passed over. The error names the first line that is none of
// these; the other lines are given nevertheless.
func ParseEnv(b []byte) (vars []EnvVar, err error) {
	for i, line := range strings.Split(string(b), "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if name = strings.TrimSpace(name); !ok || name == "" || strings.ContainsRune(line, 0) {
			if err == nil {
				err = E("set", EnvFile, ErrMalformed, "line %d: expected NAME=value", i+1)
			}
			continue
		}
		vars = append(vars, EnvVar{name, value})
	}
	return vars, err
}
