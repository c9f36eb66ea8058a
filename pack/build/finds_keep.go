package build

import (
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/pack/source"
	"github.com/ctxfs/ctxfs/session"
)

// findsName is the derived content that has what was found in a session's records.
const findsName = "notes/finds"

// keptFinds keeps what was found as derived content of a session.
type keptFinds struct{ x *session.Session }

// Load implements [journal.Keeper]; it returns an error when the history cannot be read.
func (k keptFinds) Load(add func(line []byte) bool) (places, tools int, err error) {
	t, err := k.x.Timeline()
	if err != nil {
		return 0, 0, err
	}
	in := pack.Input{Messages: t.Messages, Tools: t.Tools}
	if len(t.Tools) > 0 {
		in.Events = t.Events
	}
	places, tools, _ = source.LoadBatches(k.x, in.History(), findsName, func(_ journal.BatchOf, line []byte) bool { return add(line) })
	return places, tools, nil
}

// Each implements [journal.Keeper]; it returns an error when the lines cannot be read.
func (k keptFinds) Each(do func(line []byte) bool) error { return k.x.EachDerivedLine(findsName, do) }

// Head implements [journal.Keeper]; it returns an error when the history cannot be read.
func (k keptFinds) Head(m record.Records, at int) (string, error) { return source.HeadAt(k.x, m, at) }

// Append implements [journal.Keeper]; it returns an error when the line is not kept.
func (k keptFinds) Append(line []byte) error { return k.x.AppendDerived(findsName, line) }

func (k keptFinds) Remove() { k.x.RemoveDerived(findsName) }

// keeper is where findings are kept: nowhere, where they are those of redacted records.
func (e *entry) keeper(x *session.Session) journal.Keeper {
	if e.Redacts() {
		return nil
	}
	return keptFinds{x}
}
