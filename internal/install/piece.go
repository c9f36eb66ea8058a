package install

import (
	"bytes"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// piece is what ctxfs has in one file of settings. The texts of files go in and out; a text that needs no change comes back as it is.
type piece interface {
	put(text []byte) ([]byte, error)  // with the piece, in place of an older one
	take(text []byte) ([]byte, error) // without the piece, also one of an older ctxfs
	same(a, b []byte) bool            // whether two texts mean the same
	own(text []byte) ([]entry, error) // what of it is there, also of an older ctxfs
}

// entry is what ctxfs has at one place of a file.
type entry struct {
	where   string   // in the file
	command string   // as the file has it
	words   []string // the same, a word each
}

func (e entry) String() string {
	if e.command == "" {
		return e.where
	}
	return e.where + ": " + e.command
}

// entryOf returns the entry of a command that is a list of words.
func entryOf(where string, line []string) entry {
	shown := make([]string, len(line))
	for n := range line {
		shown[n] = quoted(line[n])
	}
	return entry{where, strings.Join(shown, " "), line}
}

// words returns the words of a shell's line, without their quotes.
func words(line string) (all []string) {
	var word strings.Builder
	in, quote := false, rune(0)
	for _, r := range line {
		switch {
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n'):
			if in {
				all = append(all, word.String())
			}
			in = false
			word.Reset()
			continue
		case quote == 0 && (r == '"' || r == '\'' || r == '\\'):
			quote = r
		case quote == '\\':
			word.WriteRune(r)
			quote = 0
		case r == quote:
			quote = 0
		default:
			word.WriteRune(r)
		}
		in = true
	}
	if in {
		all = append(all, word.String())
	}
	return all
}

// hookSet are the hooks of a program, in the form that Claude Code, Codex and Gemini CLI share: hooks.EVENT[].hooks[].command.
type hookSet struct {
	events  []string
	command string
	timeout func(event string) int // in the program's unit
	name    string                 // of each hook, for programs that show one
}

// ownHook reports whether a hook's command is one of ctxfs, of any path, or the script of examples/claude-code.
func ownHook(command string) bool {
	line := words(command)
	if len(line) == 0 {
		return false
	}
	base := path.Base(line[0])
	return base == "ctxfs" && len(line) > 1 && line[1] == "hook" || base == "ctxfs-hook.sh"
}

func (h hookSet) item(event string) any {
	type hook struct {
		Name    string `json:"name,omitempty"`
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
	}
	return hook{h.name, "command", h.command, h.timeout(event)}
}

// place is where a hook of ctxfs stands in the groups of an event.
type place struct {
	group, item int
	command     string
}

// hooksOf returns the array of hooks in a group of an event; nil where there is none.
func hooksOf(group *hujson.Value) *hujson.Value {
	if _, ok := group.Value.(*hujson.Object); !ok {
		return nil
	}
	v, err := spot{value: group}.member("hooks")
	if err != nil || v == nil {
		return nil
	}
	if _, ok := v.Value.(*hujson.Array); !ok {
		return nil
	}
	return v
}

// places returns the hooks of ctxfs of an event.
func places(event *hujson.Value) (found []place) {
	groups, ok := event.Value.(*hujson.Array)
	if !ok {
		return nil
	}
	for g := range groups.Elements {
		hooks := hooksOf(&groups.Elements[g])
		if hooks == nil {
			continue
		}
		for i := range hooks.Value.(*hujson.Array).Elements {
			var hook struct{ Command string }
			if decode(&hooks.Value.(*hujson.Array).Elements[i], &hook) && ownHook(hook.Command) {
				found = append(found, place{g, i, hook.Command})
			}
		}
	}
	return found
}

// clear takes the hooks of ctxfs out of an event.
func (d *document) clear(event *hujson.Value) {
	found := places(event)
	for n := len(found) - 1; n >= 0; n-- {
		p := found[n]
		group := &event.Value.(*hujson.Array).Elements[p.group]
		hooks := hooksOf(group)
		d.drop(hooks, p.item)
		alone := group.Clone()
		alone.BeforeExtra, alone.AfterExtra = nil, nil // what is there stays
		if bare(hooks) && alone.IsStandard() {
			d.drop(event, p.group)
		}
	}
}

// eventNames returns the names of the events that have hooks, in order.
func (d *document) eventNames() (hooks spot, names []string, err error) {
	hooks, err = d.at([]string{"hooks"}, false)
	if err != nil || hooks.value == nil {
		return hooks, nil, err
	}
	for _, m := range hooks.value.Value.(*hujson.Object).Members {
		names = append(names, m.Name.Value.(hujson.Literal).String())
	}
	return hooks, names, nil
}

// sweep takes the hooks of ctxfs out of all events but those of keep.
func (d *document) sweep(keep []string) error {
	hooks, names, err := d.eventNames()
	if err != nil {
		return err
	}
	for _, name := range names {
		event, err := hooks.member(name)
		if err != nil {
			return err
		}
		if slices.Contains(keep, name) || len(places(event)) == 0 {
			continue
		}
		d.clear(event)
		if bare(event) {
			d.dropMember(hooks.value, name)
		}
	}
	return nil
}

func (h hookSet) put(text []byte) ([]byte, error) {
	return editJSON(text, func(d *document) error {
		if err := d.sweep(h.events); err != nil {
			return err
		}
		for _, name := range h.events {
			hooks, err := d.at([]string{"hooks"}, true)
			if err != nil {
				return err
			}
			event, err := hooks.member(name)
			if err != nil {
				return err
			}
			if event == nil {
				event = d.add(hooks, name, []any{map[string]any{"hooks": []any{h.item(name)}}})
				continue
			}
			if _, ok := event.Value.(*hujson.Array); !ok {
				return fmt.Errorf("hooks.%s is not an array", name)
			}
			if found := places(event); len(found) == 1 {
				item := &hooksOf(&event.Value.(*hujson.Array).Elements[found[0].group]).Value.(*hujson.Array).Elements[found[0].item]
				if !same(item, h.item(name)) {
					in, lines := indentOf(item.BeforeExtra)
					item.Value = d.made(h.item(name), in, lines && isMultiline(item))
				}
				continue
			}
			d.clear(event)
			d.push(spot{event, d.inner(hooks)}, map[string]any{"hooks": []any{h.item(name)}})
		}
		return nil
	})
}

func isMultiline(v *hujson.Value) bool { c := v.Clone(); return bytes.ContainsRune(c.Pack(), '\n') }

func (h hookSet) take(text []byte) ([]byte, error) {
	return editJSON(text, func(d *document) error {
		lines, err := h.own(text)
		if err != nil || len(lines) == 0 {
			return err
		}
		if err := d.sweep(nil); err != nil {
			return err
		}
		return d.dropEmpty([]string{"hooks"})
	})
}

func (h hookSet) same(a, b []byte) bool { return sameJSON(a, b) }

func (h hookSet) own(text []byte) (all []entry, err error) {
	d, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	hooks, names, err := d.eventNames()
	for _, name := range names {
		event, err := hooks.member(name)
		if err != nil {
			return nil, err
		}
		for _, p := range places(event) {
			all = append(all, entry{"hooks." + name, p.command, words(p.command)})
		}
	}
	return all, err
}

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

// editJSON changes settings with do, and returns them as they are where that changed nothing. What it returns parses.
func editJSON(text []byte, do func(*document) error) ([]byte, error) {
	d, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	was, err := d.plain()
	if err != nil {
		return nil, err
	}
	if err := do(d); err != nil {
		return nil, err
	}
	edited := d.text()
	again, err := parseJSON(edited)
	if err != nil {
		return nil, fmt.Errorf("the change would break it: %w", err)
	}
	now, err := again.plain()
	if err != nil {
		return nil, fmt.Errorf("the change would break it: %w", err)
	}
	if reflect.DeepEqual(was, now) {
		return text, nil
	}
	return edited, nil
}

// sameJSON reports whether two texts of settings mean the same, but for objects and arrays that are empty.
func sameJSON(a, b []byte) bool {
	var plain [2]any
	for n, text := range [][]byte{a, b} {
		d, err := parseJSON(text)
		if err == nil {
			var v map[string]any
			v, err = d.plain()
			plain[n] = pruned(v)
		}
		if err != nil {
			return false
		}
	}
	return reflect.DeepEqual(plain[0], plain[1])
}

// pruned returns a value without the objects and arrays in it that are empty, nil if it is such a one.
func pruned(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, in := range v {
			if v[name] = pruned(in); v[name] == nil && in != nil {
				delete(v, name)
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		kept := []any{}
		for _, in := range v {
			if p := pruned(in); p != nil || in == nil {
				kept = append(kept, p)
			}
		}
		if len(kept) == 0 {
			return nil
		}
		return kept
	}
	return v
}
