package source

import (
	"encoding/json"

	"github.com/ctxfs/ctxfs/pack/finds"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/session"
)

// What reading a history taught is kept in lines of derived content, each of which tells of a batch of records in the order of the
// timeline, so that the next daemon goes on where this one was.

// LoadBatches returns the batches that are kept under name to add, one after another, as long as they fit together and add takes them. It says
// how many places they tell of. Where they do not fit the history m they are removed, and fits is false.
func LoadBatches(x *session.Session, m record.Records, name string, add func(of finds.BatchOf, line []byte) bool) (places, tools int, fits bool) {
	head, any := "", false
	x.EachDerivedLine(name, func(line []byte) bool {
		var of finds.BatchOf
		any = true
		if json.Unmarshal(line, &of) != nil || of.From != places+1 || of.To < of.From || of.To > m.Len() || !add(of, line) {
			head = "another"
			return false
		}
		places, tools, head = of.To, of.Tools, of.Head
		return true
	})
	if !any {
		return 0, 0, true
	}
	if now, err := HeadAt(x, m, places); err != nil || now != head {
		x.RemoveDerived(name)
		return 0, 0, false
	}
	return places, tools, true
}

// HeadAt stands for the first at places of m: the values of both logs' chains.
// It returns an error when a log cannot be read.
func HeadAt(x *session.Session, m record.Records, at int) (string, error) {
	var sizes [2]int64
	events := record.ToolsUpTo(m, at)
	if n := at - events; n > 0 {
		e := record.MessagesOf(m).At(n)
		sizes[0] = e.Offset + int64(e.Len) + 1
	}
	if events > 0 {
		t := m.(*record.Merged)
		e := t.Events.At(int(t.Tools[events-1].Line))
		sizes[1] = e.Offset + int64(e.Len) + 1
	}
	messages, err := x.Messages().HeadAt(sizes[0])
	if err != nil {
		return "", err
	}
	tools, err := x.Events().HeadAt(sizes[1])
	return messages + " " + tools, err
}
