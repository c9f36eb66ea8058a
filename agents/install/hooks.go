package install

import (
	"bytes"
	"fmt"
	"path"
	"slices"

	"github.com/tailscale/hujson"
)

// hookSet are the hooks of a program, in the form that Claude Code, Codex and Gemini CLI share: hooks.EVENT[].hooks[].command.
type hookSet struct {
	events  []string
	command string
	timeout func(event string) int // in the program's unit
	name    string                 // of each hook, for programs that show one
	off     func(settings map[string]any) (why string)
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
				d.add(hooks, name, []any{map[string]any{"hooks": []any{h.item(name)}}})
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
