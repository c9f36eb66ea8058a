package recipe

import (
	"fmt"
	"strings"

	"github.com/ctxfs/ctxfs/internal/lazy"
)

// The variables that every recipe has.
const (
	VarAgentHome = "AGENT_HOME"
	VarCWD       = "CWD"
	VarSession   = "SESSION"
	VarRecipeDir = "RECIPE_DIR"
)

var (
	builtinVars  = []string{VarAgentHome, VarCWD, VarSession, VarRecipeDir}
	variableName = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// token is a part of a template: text, or the name of a variable.
type token struct {
	text     string
	variable bool
}

// split takes a template apart.
func split(s string) (tokens []token, err error) {
	var plain strings.Builder
	for {
		i := strings.IndexByte(s, '$')
		if i < 0 || i+1 == len(s) {
			plain.WriteString(s)
			return append(tokens, token{text: plain.String()}), nil
		}
		plain.WriteString(s[:i])
		s = s[i:]
		switch s[1] {
		case '$':
			plain.WriteByte('$')
			s = s[2:]
		case '{':
			end := strings.IndexByte(s, '}')
			if end < 0 {
				return nil, fmt.Errorf("%.40q has no closing brace; write ${NAME}, or $$ for a $", s)
			}
			name := s[2:end]
			if !variableName().MatchString(name) {
				return nil, fmt.Errorf("%.40q is not a variable; a name has letters, digits and _; write $$ for a $", s[:end+1])
			}
			tokens = append(tokens, token{text: plain.String()}, token{name, true})
			plain.Reset()
			s = s[end+1:]
		default:
			plain.WriteByte('$')
			s = s[1:]
		}
	}
}

// Expand puts the values of variables in the place of their ${NAME}; $$ becomes $.
// It fails at a variable that lookup does not know.
func Expand(template string, lookup func(name string) (string, bool)) (string, error) {
	tokens, err := split(template)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, t := range tokens {
		if !t.variable {
			b.WriteString(t.text)
			continue
		}
		v, ok := lookup(t.text)
		if !ok {
			return "", fmt.Errorf("${%s} is not defined; define it under env or in context/env", t.text)
		}
		b.WriteString(v)
	}
	return b.String(), nil
}
