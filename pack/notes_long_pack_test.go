package pack

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/pack/packtest"
	"github.com/ctxfs/ctxfs/pack/recall"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/pack/section"
)

// indexedMemo returns a memo with the index of all records of a log.
func indexedMemo(t *testing.T, l record.Records) *Memo {
	t.Helper()
	terms := recall.NewTerms(nil, 1)
	for more := true; more; {
		var err error
		if more, err = terms.Fill(t.Context(), l, l.Len()); err != nil {
			t.Fatal(err)
		}
	}
	mm := NewMemo()
	mm.Share(terms)
	return mm
}

// The first pack of a long history does not read all of it for its notes, and is the pack that one made record by record gives.
func TestNotesOfALongHistoryInPacks(t *testing.T) {
	pure(t)
	const n = section.First + 4*section.Window
	l := packtest.LongNoted(n - 1)
	l.Append(packtest.Message("assistant", "The last one."))
	read := counted{l, map[int]bool{}}
	in := inputOf(l, notedBudget)
	in.Messages = read
	first, err := CompileWith(&in, indexedMemo(t, l))
	if err != nil {
		t.Fatal(err)
	}
	if words := blockNamed(string(first.Markdown), "user's words ("); strings.Count(words, "\n- [") < 2 {
		t.Fatalf("words of the user: %q", words)
	}
	if most := section.First + 3*section.Window; len(read.read) > most {
		t.Errorf("%d records were read of %d, want %d at most", len(read.read), n, most)
	}
	if from := section.From(n); from < 2*section.Window || read.read[section.First+section.Window/2] {
		t.Errorf("the records up to %d are not left out", from)
	}
	var one Compiler
	for at := n - 40; at <= n; at++ {
		in.Messages = l.Prefix(at)
		if at < n {
			in.Head = fmt.Sprint(at)
		} else {
			in.Head = inputOf(l, notedBudget).Head
		}
		b, err := one.Compile(in)
		if err != nil {
			t.Fatal(err)
		}
		if at == n && !bytes.Equal(b.Markdown, first.Markdown) {
			t.Errorf("made record by record:\n%s\n---\n%s", b.Markdown, first.Markdown)
		}
	}
}

func (c counted) Record(line int) ([]byte, error) {
	c.read[line] = true
	return c.Records.Record(line)
}

// counted counts which records are read.
type counted struct {
	record.Records
	read map[int]bool
}
