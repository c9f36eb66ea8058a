package acts

import (
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/internal/coder"
)

// Bounds of a state.
const (
	MaxActs    = 64 // acts that a [State] holds; the oldest leave
	maxObjects = 64 // likewise
	maxSaid    = 240
)

// Act is the newest act of one tool on one object.
type Act struct {
	Tool   string
	Object string // "" if the call names none
	At     int    // the place of the result
	Failed bool
	Said   string // what it changed, or why it failed
}

// State are the acts of the records up to one place, the oldest first. The zero State has none. It is a
// value: Apply leaves the receiver as it is.
type State struct {
	open    toolcall.Open
	list    []*Act // neither is changed once it is in a State
	objects []*object
}

// Acts returns them, the oldest first. The caller must not change them.
func (s State) Acts() []*Act { return s.list }

// Code writes s, or reads what was written.
func (s *State) Code(c *coder.Coder) {
	s.open.Code(c)
	coder.Pointers(c, &s.list, func(a *Act) {
		coder.Text(c, &a.Tool, &a.Object, &a.Said)
		coder.Number(c, &a.At)
		c.Flag(&a.Failed)
	})
	coder.Pointers(c, &s.objects, func(o *object) {
		o.id.code(c)
		coder.List(c, &o.leaves, func(l *leaf) { l.code(c) })
	})
}

func (l *leaf) code(c *coder.Coder) { coder.Text(c, &l.path, &l.value) }

// Apply returns the state after a record. Records come in the order of their places.
func (s State) Apply(r toolcall.Record) State {
	if len(r.Calls) == 0 && len(r.Results) == 0 {
		return s
	}
	open, done := s.open.Next(r)
	s.open = open
	for i := range done {
		if !done[i].Open {
			s = s.after(&done[i])
		}
	}
	return s
}

// after returns the state after a call.
func (s State) after(d *toolcall.Done) State {
	if _, shell := toolcall.Script(d.Tool, d.Arguments); shell || notes.ActionOf(d.Tool, d.Arguments).Checks() {
		return s
	}
	arguments, _ := leavesOf(d.Arguments)
	if slices.ContainsFunc(arguments, func(l leaf) bool { return slices.Contains(compress.PathKeys, l.path) }) {
		return s
	}
	text := toolcall.Body(d.Result.Text)
	leaves, isObject := leavesOf(text)
	verbs := verbsOf(d.Tool)
	var id leaf
	var before []leaf
	if isObject && !d.Result.Cut {
		if id = idOf(leaves, arguments, slices.ContainsFunc(verbs, func(w string) bool { return making[w] })); id.value != "" {
			if i := slices.IndexFunc(s.objects, func(o *object) bool { return o.id == id }); i >= 0 {
				before = s.objects[i].leaves
			}
			s = s.knows(&object{id, leaves})
		}
	}
	if len(verbs) == 0 || slices.ContainsFunc(verbs, func(w string) bool { return reading[w] }) {
		return s
	}
	a := &Act{Tool: d.Tool, Object: id.value, At: d.At}
	if a.Object == "" {
		a.Object = named(arguments)
	}
	a.Failed = d.Result.Failed || toolcall.StatusOf(d.Result) == toolcall.Failed || saysError(text)
	switch {
	case a.Failed || !isObject:
		a.Said = compress.Clip(firstLine(text), maxSaid)
	case before != nil:
		a.Said = said(changed(before, leaves), maxSaid)
	default:
		a.Said = said(slices.DeleteFunc(slices.Clone(leaves), func(l leaf) bool {
			return slices.ContainsFunc(arguments, func(a leaf) bool { return a.value == l.value })
		}), maxSaid)
	}
	if set, ok := SettingOf(d.Tool, d.Arguments); ok && !a.Failed {
		if a.Object == "" {
			a.Object = set.ids[0].value
		}
		a.Said = compress.Clip(strings.TrimSuffix(said(set.fields, maxSaid/2)+"; "+a.Said, "; "), maxSaid)
	}
	return s.with(a)
}

// knows returns the state with what is known of an object.
func (s State) knows(o *object) State {
	list := make([]*object, 0, len(s.objects)+1)
	for _, old := range s.objects {
		if old.id != o.id {
			list = append(list, old)
		}
	}
	if list = append(list, o); len(list) > maxObjects {
		list = list[1:]
	}
	s.objects = list
	return s
}

// with returns the state with one more act.
func (s State) with(a *Act) State {
	list := make([]*Act, 0, len(s.list)+1)
	for _, old := range s.list {
		if old.Tool != a.Tool || old.Object != a.Object || a.Object == "" && old.Said != a.Said {
			list = append(list, old)
		}
	}
	if list = append(list, a); len(list) > MaxActs {
		list = list[1:]
	}
	s.list = list
	return s
}

// named returns the first argument that says which thing a call is about; "" if none does.
func named(arguments []leaf) string {
	for i := range arguments {
		if l := &arguments[i]; isID(l.name()) && len(l.value) < 48 {
			return l.value
		}
	}
	return ""
}

// saysError reports whether a text begins with the word.
func saysError(text string) bool {
	text = strings.ToLower(strings.TrimLeft(text, " \n\t\"'{[("))
	return strings.HasPrefix(text, "error") || strings.HasPrefix(text, "failed") || strings.HasPrefix(text, "exception")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return oneLine(line)
}
