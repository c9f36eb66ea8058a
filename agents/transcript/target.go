package transcript

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/agents/adapter/claude"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// batch is how many bytes are appended at once, at most: less than the kernel
// passes in one request, so that a call is taken whole or refused.
const batch = 1<<20 - 8<<10

// maxHandoff is how much of a child's first user message becomes its handoff.md, in bytes.
const maxHandoff = 16 << 10

// target is a session that gets records. Those of both logs are appended in
// the order of the transcript, because a session's events stand between its messages.
type target struct {
	im    *Importer
	h     history
	chain string

	log     string // that buf belongs to
	buf     []byte // whole lines that are waiting
	waiting int    // how many

	model, client string
	handoff       bool // one is still to be written
}

func newTarget(im *Importer, h history, chain string) *target {
	return &target{im: im, h: h, chain: chain, handoff: chain != "" && im.parentControl(chain, ctxabi.ChildHandoff) == ""}
}

// learn reads what is there already.
func (t *target) learn() error {
	for _, log := range []string{ctxabi.MessagesFile, ctxabi.EventsFile} {
		err := eachRecord(t.h, log, 0, func(line []byte) error {
			t.im.known.Had(adapter.Record{Chain: t.chain, Event: log == ctxabi.EventsFile, Line: bytes.TrimSpace(line)})
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// add appends a record, later.
func (t *target) add(r adapter.Record) error {
	log := ctxabi.MessagesFile
	if r.Event {
		log = ctxabi.EventsFile
	}
	if log != t.log || len(t.buf)+len(r.Line)+1 > batch {
		if err := t.flush(); err != nil {
			return err
		}
	}
	t.log = log
	t.buf = append(append(t.buf, r.Line...), '\n')
	t.waiting++
	return nil
}

// flush appends what is waiting.
func (t *target) flush() error {
	if t.waiting == 0 {
		return nil
	}
	lines, n := t.buf, t.waiting
	t.buf, t.waiting = nil, 0
	from, err := t.h.size(t.log)
	if err != nil {
		return err
	}
	if err := t.h.append(t.log, lines); err != nil {
		return t.oneByOne(lines, from, err)
	}
	t.added(n)
	t.buf = lines[:0]
	return nil
}

func (t *target) added(n int) {
	t.im.Count.Records += n
	t.im.bar.Added(n)
	if t.log == ctxabi.EventsFile {
		t.im.Count.Events += n
	} else {
		t.im.Count.Messages += n
	}
}

// oneByOne appends lines after an append of all of them failed, that began when
// the log had from bytes. What got there is looked up. A record that is refused
// for what it is becomes a loss; any other failure ends the import.
func (t *target) oneByOne(lines []byte, from int64, failed error) error {
	rest := bytes.SplitAfter(lines, []byte("\n"))
	rest = rest[:len(rest)-1]
	err := eachRecord(t.h, t.log, from, func(line []byte) error {
		if len(rest) > 0 && bytes.Equal(bytes.TrimSuffix(rest[0], []byte("\n")), line) {
			rest = rest[1:]
			t.added(1)
		}
		return nil
	})
	if err != nil || len(rest) > 0 && !ofRecord(failed) {
		return failed
	}
	for _, line := range rest {
		switch err := t.h.append(t.log, line); {
		case err == nil:
			t.added(1)
		case ofRecord(err):
			r := adapter.Record{Chain: t.chain, Event: t.log == ctxabi.EventsFile, Line: line}
			where := "a record"
			if s, ok := r.Stamp(); ok && len(s.At) > 0 {
				where = fmt.Sprintf("source record %d", s.At[0]+1)
			}
			t.im.losses.Add("", adapter.Loss{Where: where, What: "was refused: " + ctxabi.Reason(err)})
		default:
			return err
		}
	}
	return nil
}

// ofRecord reports whether a record was refused for what it is.
func ofRecord(err error) bool {
	return errors.Is(err, ctxabi.ErrMalformed) || errors.Is(err, ctxabi.ErrTooLarge)
}

// note takes from a record what it says of its session.
func (t *target) note(r adapter.Record, f *adapter.Format) {
	if t.client == "" && !f.Verbatim {
		t.client = f.Name
	}
	if m := modelIn(r); m != "" {
		t.model = m
	}
	if !t.handoff || r.Event {
		return
	}
	if m := ctxabi.DecodeMessage(r.Line); m.Role == ctxabi.User && m.Text != "" {
		t.handoff = false
		err := t.im.main.h.setControl(t.im.childFile(t.chain, ctxabi.ChildHandoff), shortened(m.Text))
		if err != nil {
			t.im.losses.Add("", adapter.Loss{Where: "child " + t.chain, What: "handoff.md: " + ctxabi.Reason(err)})
		}
	}
}

func shortened(text string) string {
	if len(text) > maxHandoff {
		text = strings.ToValidUTF8(text[:maxHandoff], "") + "\n…\n"
	}
	text = strings.ReplaceAll(text, "\x00", "")
	return strings.TrimRight(text, "\n") + "\n"
}

// modelPlaces are where in the rest of a stamp formats name the model that wrote a record.
var modelPlaces = []string{"message.model", "model", "payload.model", "model_name", "agent.model_name", "llm.model", "info.config.model.model_name", "info.modelID"}

// metaKeys are what imports write into meta.json, in their order.
var metaKeys = []string{"model", "client", "parent", "chain", "agent_type", "tool_call_id", "forked_from"}

func modelIn(r adapter.Record) string {
	s, _ := r.Stamp()
	rest := gjson.ParseBytes(s.Rest)
	sources := []gjson.Result{rest}
	for _, several := range []gjson.Result{rest, rest.Get("records")} { // the rests of several source records
		if several.IsArray() {
			sources = append(sources, several.Array()...)
		}
	}
	for _, source := range sources {
		for _, place := range modelPlaces {
			if m := source.Get(place); m.Type == gjson.String && m.Str != "" && !strings.HasPrefix(m.Str, "<") && len(m.Str) < 200 {
				return m.Str
			}
		}
	}
	return ""
}

// describe fills in what meta.json has not yet of what imports write there. What somebody else wrote stays as it is.
func (t *target) describe() error {
	if t.client == "" && t.chain == "" {
		return nil
	}
	was := strings.TrimSpace(t.h.control(ctxabi.MetaFile))
	have, err := adapter.ParseObject([]byte(cmp.Or(was, "{}")))
	if err != nil || slices.ContainsFunc(have, func(f adapter.Field) bool { return !slices.Contains(metaKeys, f.Key) }) {
		return nil
	}
	var parent, chain string
	var agent subagent
	if t.chain != "" {
		parent, agent = t.im.parentPath(t.chain), t.im.agents[t.chain]
		if t.im.nameOf(t.chain) != childName(t.chain) {
			chain = t.chain
		}
	}
	forked := ""
	if t.chain == "" && !have.Has("forked_from") {
		if forked, err = t.forkedFrom(); err != nil {
			return err
		}
	}
	meta := adapter.Object{}
	for i, value := range []string{t.model, t.client, parent, chain, agent.Type, agent.Call, forked} {
		switch key := metaKeys[i]; {
		case have.Has(key):
			meta = append(meta, adapter.Field{Key: key, Value: have.Get(key)})
		case value != "":
			meta = meta.With(key, value)
		}
	}
	if len(meta) <= len(have) {
		return nil
	}
	return t.h.setControl(ctxabi.MetaFile, string(adapter.Raw(meta))+"\n")
}

// forkedFrom returns the origin of a forked session and the number of copied messages, in the form
// of meta.json; "" if the session is not a fork or the origin does not exist. It returns an error
// if it cannot read the messages.
func (t *target) forkedFrom() (string, error) {
	fork := t.im.forked
	if fork == nil {
		return "", nil
	}
	of := t.im.ref
	of.Session = fork.forked
	if t.im.ref.Session != fork.id { // else all sessions have the names of their threads
		h, err := t.im.to.open(of)
		if err != nil {
			return "", nil
		}
		h.close()
	}
	n := 0
	err := eachRecord(t.h, ctxabi.MessagesFile, 0, func(line []byte) error {
		if s, ok := (adapter.Record{Line: line}).Stamp(); ok && len(s.At) > 0 && s.File == 0 && s.At[0] < fork.copied {
			n++
		}
		return nil
	})
	return fmt.Sprintf("%s@%d", of.Path(), n), err
}

// childName is what the child of a chain is called: the chain where it is a name.
func childName(chain string) string {
	if ctxabi.ValidName(chain) == nil && len(chain) <= 64 {
		return chain
	}
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && ctxabi.ValidName("a"+string(r)) == nil {
			return r
		}
		return '-'
	}, chain[:min(len(chain), 40)])
	sum := sha256.Sum256([]byte(chain))
	return "c" + strings.TrimLeft(name, "._+-") + "-" + hex.EncodeToString(sum[:4])
}

// nameOf is what the child of a chain is called: as it was at the first import, else what it was started for, else by the chain.
func (im *Importer) nameOf(chain string) string {
	if im.names == nil {
		im.names = map[string]string{}
		names, _ := im.main.h.children()
		for _, name := range names {
			im.names[im.chainOf(name)] = name
		}
	}
	if name, known := im.names[chain]; known {
		return name
	}
	name := childName(chain)
	if slug := claude.SubagentName(im.agents[chain].Description); slug != "" {
		taken := slices.Collect(maps.Values(im.names))
		name = slug
		for n := 2; slices.Contains(taken, name); n++ {
			name = fmt.Sprintf("%s-%d", slug, n)
		}
	}
	im.names[chain] = name
	return name
}

// chainOf is the chain that a child was made of: its meta.json names it where it is not the child's name.
func (im *Importer) chainOf(name string) string {
	ref, ok := childRef(im.main.h, im.ref, name)
	if !ok || ref == im.ref {
		return name
	}
	h, err := im.to.open(ref)
	if err != nil {
		return name
	}
	defer h.close()
	if chain := gjson.Get(h.control(ctxabi.MetaFile), "chain"); chain.Type == gjson.String && chain.Str != "" {
		return chain.Str
	}
	return name
}

func (im *Importer) childFile(chain, file string) string {
	return ctxabi.ChildPath(im.nameOf(chain), file)
}

// parentPath is what the meta.json of a child says of where it comes from.
func (im *Importer) parentPath(chain string) string {
	return im.ref.Path() + "/" + ctxabi.ChildPath(im.nameOf(chain))
}

func (im *Importer) parentControl(chain, file string) string {
	return strings.TrimSpace(im.main.h.control(im.childFile(chain, file)))
}

// openChild opens the session of a chain where it is linked and there.
func (im *Importer) openChild(chain string) (h history, ok bool, err error) {
	ref, ok := childRef(im.main.h, im.ref, im.nameOf(chain))
	if !ok || ref == im.ref {
		return nil, false, nil
	}
	h, err = im.to.open(ref)
	if session.Gone(err) {
		return nil, false, nil
	}
	return h, err == nil, err
}

// makeChild makes the child of a chain: first the link, so that an import which
// is interrupted finds the session again, then the session.
func (im *Importer) makeChild(chain string) (*target, error) {
	im.asked[chain] = true
	name := im.nameOf(chain)
	ref, linked := childRef(im.main.h, im.ref, name)
	if !linked {
		var err error
		if ref, err = im.freeChild(name); err != nil {
			return nil, err
		}
		if names, err := im.main.h.children(); err != nil || !slices.Contains(names, name) {
			if err := im.main.h.makeChild(name); err != nil {
				return nil, err
			}
		}
		for _, file := range [][2]string{{ctxabi.ChildAgent, ref.Agent}, {ctxabi.ChildSession, ref.Session}, {ctxabi.ChildStatus, "done"}} {
			if err := im.main.h.setControl(ctxabi.ChildPath(name, file[0]), file[1]+"\n"); err != nil {
				return nil, err
			}
		}
	}
	h, err := im.to.create(ref)
	if err != nil {
		return nil, err
	}
	im.Count.Children++
	return newTarget(im, h, chain), nil
}

// freeChild returns the session that a new child gets: SESSION-CHAIN, or with a
// number behind it where somebody else's has that name.
func (im *Importer) freeChild(name string) (ctxabi.Ref, error) {
	ref := im.ref
	for n := 1; ; n++ {
		end := "-" + name
		if n > 1 {
			end += fmt.Sprintf("-%d", n)
		}
		ref.Session = im.ref.Session[:min(len(im.ref.Session), ctxabi.MaxName-len(end))] + end
		h, err := im.to.open(ref)
		if session.Gone(err) {
			return ref, nil
		}
		if err != nil {
			return ref, err
		}
		h.close()
	}
}
