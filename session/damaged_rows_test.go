package session_test

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/check"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

// What is lost of the chain where rows are damaged is no more than what nothing proves, and the log goes on.
func TestTheChainBehindDamagedRows(t *testing.T) {
	for _, c := range []struct {
		name  string
		rows  []int // of 40, the first is 1
		whole bool  // the chain's last value is still known
		found []string
	}{
		{"one near the end", []int{38}, true, []string{"arrival row 38 is damaged: who wrote messages:38 (bytes", "the chain proves that these bytes are what arrived"}},
		{"one that has it whole", []int{17}, true, []string{"arrival row 17 is damaged", "the chain proves"}},
		{"the first", []int{1}, true, []string{"arrival row 1 is damaged", "the chain proves"}},
		{"two in a row, in front of one that has it whole", []int{20, 21}, true, []string{"arrival rows 20-21 are damaged", "nothing proves"}},
		{"two of the last", []int{36, 37}, false, []string{"arrival rows 36-37 are damaged", "nothing proves"}},
		{"two apart", []int{35, 38}, true, []string{"arrival row 35 is damaged", "arrival row 38 is damaged"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := sessiontest.New()
			w := &world{disk: d, offered: map[string]bool{}}
			var records []string
			for range 40 {
				records = append(records, strings.TrimSuffix(w.record(9), "\n"))
			}
			dir := closed(t, d, records...)
			look := func() []session.Head {
				s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now, ReadOnly: true})
				x, _ := s.Session(refA)
				return heads(t, x)
			}
			was := look()
			file := path.Join(dir, session.ArrivalsFile)
			rows := slices.Collect(bytes.Lines(get(t, d, file)))
			for _, n := range c.rows {
				rows[n-1][20] ^= 0x40
			}
			put(t, d, file, bytes.Join(rows, nil))
			if is := look(); (is[0] == was[0]) != c.whole || is[0].Bytes != was[0].Bytes || is[0].Chain[:16] != was[0].Chain[:16] {
				t.Errorf("the head is %v, was %v", is[0], was[0])
			}
			s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
			x, _ := s.Session(refA)
			for range 20 {
				if _, err := x.Messages().Append(ctx, log.Batch{Data: []byte(w.record(5)), Writer: root}); err != nil {
					t.Fatal(err)
				}
			}
			problems, err := check.Verify(ctx, s, refA)
			var said []string
			for _, p := range problems {
				said = append(said, p.String())
			}
			for _, want := range c.found {
				if err != nil || !strings.Contains(strings.Join(said, "\n"), want) {
					t.Errorf("verify says %q (%v), want %q", said, err, want)
				}
			}
			if all := strings.Join(said, "\n"); strings.Contains(all, "breaks the chain") || strings.Contains(all, "not what arrived") {
				t.Errorf("verify says %q", said)
			}
			problems, err = check.VerifyHead(s, was[0])
			if err != nil || len(problems) == 0 != c.whole || !c.whole && !strings.Contains(problems[0].What, "damaged arrival rows hide the chain") {
				t.Errorf("of the head it says %v (%v)", problems, err)
			}
			now := heads(t, x)
			s.Close()
			if is := look(); !slices.Equal(is, now) {
				t.Errorf("after another open the head is %v, was %v", is, now)
			}
		})
	}
}
