package redact

import (
	"bufio"
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Allow is a list of what is no secret. The zero value allows nothing.
type Allow struct {
	rules    map[string]bool
	literals map[string]bool
	regexes  []*regexp.Regexp
}

// ParseAllow reads an allow list: one entry a line, blank lines and lines that begin with # aside.
//
//	rule:generic-api-key     a rule is not used
//	/^sandbox-[0-9]+$/       values that an expression finds something in stay
//	hunter2                  a value stays, exactly this
//
// It returns an error that names the first line with a bad expression.
func ParseAllow(data []byte) (*Allow, error) {
	a := &Allow{rules: map[string]bool{}, literals: map[string]bool{}}
	lines := bufio.NewScanner(bytes.NewReader(bytes.TrimPrefix(data, []byte("\uFEFF"))))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		switch {
		case line == "" || line[0] == '#':
		case strings.HasPrefix(line, "rule:"):
			a.rules[strings.TrimSpace(line[len("rule:"):])] = true
		case len(line) > 1 && line[0] == '/' && line[len(line)-1] == '/':
			re, err := regexp.Compile(line[1 : len(line)-1])
			if err != nil {
				return nil, fmt.Errorf("line %d of the allow list: %w", n, err)
			}
			if re.MatchString("") {
				return nil, fmt.Errorf("line %d of the allow list: %s allows everything", n, line)
			}
			a.regexes = append(a.regexes, re)
		default:
			a.literals[line] = true
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("the allow list: %w", err)
	}
	return a, nil
}

func (a *Allow) allows(secret string) bool {
	if a.literals[secret] {
		return true
	}
	return slices.ContainsFunc(a.regexes, func(re *regexp.Regexp) bool { return re.MatchString(secret) })
}

func (a *Allow) len() int { return len(a.rules) + len(a.literals) + len(a.regexes) }

// canonical is the list in one order, whatever that of its lines.
func (a *Allow) canonical() string {
	var list []string
	for id := range a.rules {
		list = append(list, "rule:"+id)
	}
	for v := range a.literals {
		list = append(list, "="+v)
	}
	for _, re := range a.regexes {
		list = append(list, "/"+re.String())
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), "\n")
}
