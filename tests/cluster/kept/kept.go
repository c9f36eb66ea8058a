package kept

import (
	"bytes"
	"embed"
	"encoding/json"
	"testing"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/engine/enginetest"
	"github.com/ctxfs/ctxfs/ctxabi"
)

//go:embed testdata
var files embed.FS

// Present is the name of the journals of this version, Later of those of a later one.
const (
	Present = "journals-2"
	Later   = "journals-later"
)

// Owner is whose journals all of them are; the session is the one of all of this version.
var Owner = ctxabi.Ref{UID: 1000, Agent: "coder", Session: "s1"}

// Sessions of [Later], which end with what this version does not understand.
const (
	LaterEntry = "later-entry" // of a later version
	LaterRow   = "later-row"   // with a row of an unknown kind
	LaterForm  = "later-form"  // with a row in an unknown form
)

// Journal is a journal with its entries.
type Journal struct {
	Subject engine.Subject
	Entries []engine.Entry
}

// line is an entry in a file.
type line struct {
	Owner, Session string
	ID             string
	Header         engine.Header
	Payload        []byte
}

// Read returns the journals with a name; that of the owner is the first.
func Read(tb testing.TB, name string) (list []Journal) {
	tb.Helper()
	data, err := files.ReadFile("testdata/" + name + ".jsonl")
	if err != nil {
		tb.Fatal(err)
	}
	for text := range bytes.Lines(data) {
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			tb.Fatalf("%s: %v", name, err)
		}
		s := engine.Subject{Owner: l.Owner, Session: l.Session}
		if len(list) == 0 || list[len(list)-1].Subject != s {
			list = append(list, Journal{Subject: s})
		}
		j := &list[len(list)-1]
		j.Entries = append(j.Entries, engine.Entry{ID: l.ID, Header: l.Header, Payload: l.Payload})
	}
	return list
}

// Put puts a journal into a cluster that has none of the name.
func (j *Journal) Put(tb testing.TB, e engine.Engine) {
	tb.Helper()
	last := uint64(0)
	for i, x := range j.Entries {
		seq, err := enginetest.Append(tb.Context(), e, j.Subject, last, x.ID, x.Header, x.Payload)
		if err != nil {
			tb.Fatalf("entry %d of %s: %v", i, j.Subject, err)
		}
		last = seq
	}
}

// write returns journals as a file.
func write(tb testing.TB, list []Journal) []byte {
	tb.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, j := range list {
		for _, x := range j.Entries {
			if err := enc.Encode(line{j.Subject.Owner, j.Subject.Session, x.ID, x.Header, x.Payload}); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return b.Bytes()
}
