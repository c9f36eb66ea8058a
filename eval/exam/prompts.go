package exam

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/eval"
	"github.com/ctxfs/ctxfs/internal/lazy"
	"github.com/ctxfs/ctxfs/internal/tokens"
)

// Method makes the prompts that are compared.
type Method struct {
	Name string
	Dir  string // where its prompts lie, a file N.md for prefix N; "": ctxfs makes them
}

// DefaultMethods are those that need no other program.
var DefaultMethods = []string{"last", "head-tail", eval.Ctxfs}

var methodName = lazy.Regexp(`^[a-z0-9][a-z0-9._-]*$`)

// mostMethods is how many methods are compared at most: answers have names of one letter.
const mostMethods = 20

// ParseMethods returns the methods of a flag: a name that ctxfs knows, or NAME=DIR for prompts that were made elsewhere.
// It returns an error if a name is unknown, stands twice, or if there are less than two.
func ParseMethods(list []string) (out []Method, err error) {
	for _, s := range list {
		name, dir, other := strings.Cut(s, "=")
		m := Method{name, dir}
		switch {
		case other && (dir == "" || !methodName().MatchString(name)):
			return nil, fmt.Errorf("%q: prompts made elsewhere are NAME=DIR, with a name of a-z, 0-9, dots and dashes", s)
		case !other && !slices.Contains(eval.MethodSlugs(), name):
			return nil, fmt.Errorf("%q is no method; the methods are %s and NAME=DIR", s, strings.Join(eval.MethodSlugs(), ", "))
		case slices.ContainsFunc(out, func(m Method) bool { return m.Name == name }):
			return nil, fmt.Errorf("two methods are named %s", name)
		}
		out = append(out, m)
	}
	if len(out) < 2 || len(out) > mostMethods {
		return nil, fmt.Errorf("from 2 to %d methods can be compared, not %d", mostMethods, len(out))
	}
	return out, nil
}

// missing returns the files of prompts that are not there, of those that are made elsewhere.
func (m *Method) missing(prefixes []Prefix) (files []string, err error) {
	for _, p := range prefixes {
		if m.Dir == "" {
			break
		}
		if _, err := os.Stat(m.file(&p)); errors.Is(err, fs.ErrNotExist) {
			files = append(files, m.file(&p))
		} else if err != nil {
			return nil, err
		}
	}
	return files, nil
}

func (m *Method) file(p *Prefix) string { return filepath.Join(m.Dir, p.ID+".md") }

// prompt returns the prompt of a method for a prefix, within the budget.
func (m *Method) prompt(p *Prefix, o *Options) (string, error) {
	if m.Dir == "" {
		made, err := eval.PackBy(p.history, m.Name, o.Budget, o.Encoding)
		if err == nil && made.Tokens > o.Budget {
			err = fmt.Errorf("the prompt of %s for %s has %d tokens, and may have %d", m.Name, p.ID, made.Tokens, o.Budget)
		}
		return made.Text, err
	}
	data, err := os.ReadFile(m.file(p))
	if err != nil {
		return "", err
	}
	counter, err := tokens.For(o.Encoding)
	if err != nil {
		return "", err
	}
	if n := counter.CountParts(string(data)); n > o.Budget {
		return "", fmt.Errorf("%s has %d tokens, and may have %d", m.file(p), n, o.Budget)
	}
	return string(data), nil
}
