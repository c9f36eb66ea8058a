package install

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// server is the entry of the MCP server in JSON settings.
type server struct {
	path []string // of the object that holds servers by name
	// fields of an entry in their order; those of must are set in an entry that is there, too.
	fields []field
	must   []string
}

type field struct {
	name  string
	value any
}

// ServerName is the name of the MCP server in the settings of all programs.
const ServerName = "ctxfs"

// commandOf returns the command line of an entry; ok is false where it is not a server of ctxfs.
func commandOf(entry *hujson.Value) (line []string, ok bool) {
	var one struct {
		Command string
		Args    []string
	}
	var list struct{ Command []string }
	if decode(entry, &list) {
		line = list.Command
	} else if decode(entry, &one) {
		line = append([]string{one.Command}, one.Args...)
	}
	return line, len(line) > 1 && path.Base(line[0]) == "ctxfs" && line[1] == "mcp"
}

// find returns the entry of the server; its value is nil where there is none.
func (s server) find(d *document) (spot, error) {
	all, err := d.at(s.path, false)
	if err != nil || all.value == nil {
		return spot{}, err
	}
	v, err := all.member(ServerName)
	if err != nil || v == nil {
		return spot{}, err
	}
	return spot{v, d.inner(all)}, nil
}

func (s server) put(text []byte) ([]byte, error) {
	return editJSON(text, func(d *document) error {
		entry, err := s.find(d)
		if err != nil {
			return err
		}
		if entry.value == nil {
			all, err := d.at(s.path, true)
			if err != nil {
				return err
			}
			added := spot{d.add(all, ServerName, struct{}{}), d.inner(all)}
			for _, f := range s.fields {
				d.add(added, f.name, f.value)
			}
			return nil
		}
		if _, ok := commandOf(entry.value); !ok {
			return fmt.Errorf("%s has an entry %q that does not start ctxfs mcp; rename or remove it first", strings.Join(s.path, "."), ServerName)
		}
		for _, f := range s.fields {
			v, err := entry.member(f.name)
			switch {
			case err != nil:
				return err
			case v == nil && slices.Contains(s.must, f.name):
				d.add(entry, f.name, f.value)
			case v != nil && slices.Contains(s.must, f.name) && !same(v, f.value):
				v.Value = d.made(f.value, d.inner(entry), isMultiline(v))
			}
		}
		return nil
	})
}

func (s server) take(text []byte) ([]byte, error) {
	return editJSON(text, func(d *document) error {
		entry, err := s.find(d)
		if err != nil || entry.value == nil {
			return err
		}
		if _, ok := commandOf(entry.value); !ok {
			return nil
		}
		all, err := d.at(s.path, false)
		if err != nil {
			return err
		}
		d.dropMember(all.value, ServerName)
		return d.dropEmpty(s.path)
	})
}

func (s server) same(a, b []byte) bool { return sameJSON(a, b) }

func (s server) own(text []byte) ([]entry, error) {
	d, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	at, err := s.find(d)
	if err != nil || at.value == nil {
		return nil, err
	}
	line, ok := commandOf(at.value)
	if !ok {
		return nil, nil
	}
	return []entry{entryOf(strings.Join(s.path, ".")+"."+ServerName, line)}, nil
}
