package pack

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/session"
)

// counted counts which records are read.
type counted struct {
	record.Records
	read map[int]bool
}

func (c counted) Record(line int) ([]byte, error) {
	c.read[line] = true
	return c.Records.Record(line)
}

// longNoted is a log of n messages, of which every hundredth says something that stays true.
func longNoted(n int) *memLog {
	l := newLog()
	for i := 1; i <= n; i++ {
		text := strings.Repeat(fmt.Sprintf("reading part %d of it ", i), 20)
		if i%100 == 0 {
			text = fmt.Sprintf("Never restart the server stage-%d.example.com during the day.", i)
		}
		l.Append(message("user", text))
	}
	return l
}

// factsOf are the messages that the facts of a pack cite.
func factsOf(b *Build) (cited []string) {
	for _, line := range strings.Split(blockNamed(string(b.Markdown), "facts ("), "\n")[1:] {
		if _, source, ok := strings.Cut(line, "(messages:"); ok {
			cited = append(cited, strings.TrimSuffix(source, ")"))
		}
	}
	return cited
}

// The first pack of a long history does not read all of it for its notes, and is the pack that one made record by record gives.
func TestNotesOfALongHistoryInPacks(t *testing.T) {
	pure(t)
	const n = journal.FindsFirst + 4*journal.FindsNewest
	l := longNoted(n)
	read := counted{l, map[int]bool{}}
	in := inputOf(l, notedBudget)
	in.Messages = read
	first, err := Compile(in)
	if err != nil {
		t.Fatal(err)
	}
	if len(factsOf(first)) < 2 {
		t.Fatalf("facts of %v", factsOf(first))
	}
	if most := journal.FindsFirst + 3*journal.FindsNewest; len(read.read) > most {
		t.Errorf("%d records were read of %d, want %d at most", len(read.read), n, most)
	}
	gap := journal.GapBefore(n)
	if read.read[gap.From+journal.FindsNewest/2] || gap.Len() < journal.FindsNewest {
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

// What nobody may wait for comes behind the readers' backs.
func TestNotesOfALongHistoryCatchUp(t *testing.T) {
	const n = journal.FindsFirst + 4*journal.FindsNewest
	d := newDesk(t, Config{Budget: 32000})
	l := longNoted(n)
	var all bytes.Buffer
	for i := 1; i <= n; i++ {
		raw, _ := l.Record(i)
		all.Write(raw)
		all.WriteByte('\n')
	}
	if _, err := d.x.Messages().Append(context.Background(), session.Batch{Data: all.Bytes()}); err != nil {
		t.Fatal(err)
	}
	facts := func() (ids []string) {
		v, err := d.b.Notes(context.Background(), d.x)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range v.Facts {
			ids = append(ids, f.ID)
		}
		return ids
	}
	now := facts()
	newest := fmt.Sprintf("f%d", n/100*100)
	if !slices.Contains(now, newest) {
		t.Errorf("at first: %v, which lacks %s", now, newest)
	}
	d.b.working.Wait() // for what goes on
	later := facts()
	if !slices.Contains(later, newest) {
		t.Errorf("later: %v, which lacks %s", later, newest)
	}
	v, err := d.b.Notes(context.Background(), d.x)
	if err != nil {
		t.Fatal(err)
	}
	d.builder(Config{Budget: 32000})
	fresh, err := d.b.Notes(context.Background(), d.x)
	if err != nil || !bytes.Equal(fresh.File(ctxabi.FactsFile), v.File(ctxabi.FactsFile)) {
		t.Errorf("another builder finds %v\n%s\nwant\n%s", err, fresh.File(ctxabi.FactsFile), v.File(ctxabi.FactsFile))
	}
	d.b.Close()
}
