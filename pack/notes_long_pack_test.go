package pack

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/pack/finds"
	"github.com/ctxfs/ctxfs/pack/packtest"
	"github.com/ctxfs/ctxfs/pack/recall"
	"github.com/ctxfs/ctxfs/pack/record"
)

// factsOf are the messages that the facts of a pack cite.
func factsOf(b *Build) (cited []string) {
	for _, line := range strings.Split(blockNamed(string(b.Markdown), "facts ("), "\n")[1:] {
		if _, source, ok := strings.Cut(line, "(messages:"); ok {
			cited = append(cited, strings.TrimSuffix(source, ")"))
		}
	}
	return cited
}

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
	const n = finds.First + 4*finds.Newest
	l := packtest.LongNoted(n - 1)
	l.Append(packtest.Message("assistant", "The last one."))
	read := counted{l, map[int]bool{}}
	in := inputOf(l, notedBudget)
	in.Messages = read
	first, err := CompileWith(&in, indexedMemo(t, l))
	if err != nil {
		t.Fatal(err)
	}
	if len(factsOf(first)) < 2 {
		t.Fatalf("facts of %v", factsOf(first))
	}
	if most := finds.First + 3*finds.Newest; len(read.read) > most {
		t.Errorf("%d records were read of %d, want %d at most", len(read.read), n, most)
	}
	gap := finds.GapBefore(n)
	if read.read[gap.From+finds.Newest/2] || gap.Len() < finds.Newest {
		t.Errorf("%v is not left out", gap)
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
