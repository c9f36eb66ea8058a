package section

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/internal/coder"
	"github.com/ctxfs/ctxfs/pack/packtest"
	"github.com/ctxfs/ctxfs/pack/record"
)

// workingLog returns a log of n records in which an agent writes files, closes tickets, and runs tests.
func workingLog(n int) *packtest.Log {
	l := packtest.LogOf()
	for i := 1; l.Len() < n; i++ {
		call, arguments, said := "close_ticket", fmt.Sprintf(`{\"ticket_id\":\"t%d\"}`, i%37), "closed"
		switch i % 4 {
		case 1:
			call, arguments, said = "bash", fmt.Sprintf(`{\"command\":\"go test ./p%d\"}`, i%11), "ok  \tp\t0.1s"
			if i%3 == 0 {
				said = "--- FAIL: TestA (0.00s)"
			}
		case 2:
			call, arguments = "write_file", fmt.Sprintf(`{\"path\":\"f%d.go\",\"content\":\"x\"}`, i%41)
		}
		l.Append([]byte(fmt.Sprintf(`{"role":"assistant","content":"","tool_calls":[{"id":"c%d","name":%q,"arguments":"%s"}]}`, i, call, arguments)))
		l.Append([]byte(fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":%q}`, i, said)))
	}
	return l
}

func input(room int) Input {
	return Input{Where: strconv.Itoa, Count: func(text string) int { return len(text) }, Room: room}
}

func (s *State) bytes() string {
	c := &coder.Coder{}
	s.code(c)
	return string(c.Data)
}

// The state of a prefix is the same from whatever was known before, and the next window needs few reads.
func TestStatesAreFolds(t *testing.T) {
	const n = 3*Window + 200
	l := workingLog(n)
	var known States
	for at, major := 1, 0; at <= n; at += 7 {
		if at%91 == 0 { // a compaction
			major = at
		}
		before := l.Reads
		got, err := known.At(context.Background(), l, From(major), at)
		if err != nil {
			t.Fatal(err)
		}
		if reads := l.Reads - before; at > 7 && reads > 4*7 {
			t.Errorf("at %d, with the major compaction at %d: %d reads", at, major, reads)
		}
		if at%343 != 1 {
			continue
		}
		var fresh States
		want, err := fresh.At(context.Background(), l, From(major), at)
		if err != nil {
			t.Fatal(err)
		}
		if got.bytes() != want.bytes() || at > 20 && len(got.Lines(input(1<<20))) == 0 {
			t.Fatalf("the state at %d depends on earlier builds", at)
		}
	}
}

// A build after one more record read the window again.
func TestOneRecordIsOneRead(t *testing.T) {
	l := workingLog(3000)
	var known States
	if _, err := known.At(context.Background(), l, From(2900), 2998); err != nil {
		t.Fatal(err)
	}
	for at := 2999; at <= 3000; at++ {
		before := l.Reads
		known.At(context.Background(), l, From(2900), at)
		if reads := l.Reads - before; reads > 3 {
			t.Errorf("%d reads", reads)
		}
	}
}

// memoryFile keeps a state in memory.
type memoryFile struct {
	data []byte
	kept int
	head string
}

func (f *memoryFile) Load() []byte { return f.data }

func (f *memoryFile) Keep(data []byte) error { f.data, f.kept = data, f.kept+1; return nil }

func (f *memoryFile) Head(_ record.Records, at int) (string, error) {
	return f.head + strconv.Itoa(at), nil
}

func TestStatesOutliveTheProcess(t *testing.T) {
	l, file := workingLog(400), &memoryFile{}
	var first States
	first.StoreIn(file, 7)
	want, _ := first.At(context.Background(), l, 0, 400)
	if err := first.Save(l); err != nil || file.kept != 1 {
		t.Fatal(err, file.kept)
	}
	if first.Save(l); file.kept != 1 {
		t.Error("an unchanged state was stored again")
	}
	reads := func(renderer int) int {
		var next States
		next.StoreIn(file, renderer)
		next.Restore(l)
		before := l.Reads
		if got, _ := next.At(context.Background(), l, 0, 400); got.bytes() != want.bytes() {
			t.Error("another state")
		}
		return l.Reads - before
	}
	if n := reads(7); n != 0 {
		t.Errorf("%d reads", n)
	}
	if reads(8) == 0 {
		t.Error("the state of another renderer was used")
	}
	if file.head = "other "; reads(7) == 0 {
		t.Error("the state of another history was used")
	}
	if Check(file.data, 7) != nil || Check(file.data[:len(file.data)-1], 7) == nil || Check([]byte("{}"), 7) == nil {
		t.Error("the check of a stored state")
	}
	if Check(file.data[:len(file.data)-1], 8) != nil {
		t.Error("a state of another version is damage")
	}
}

// A failure that was over stayed the newest word, because the line with its end did not fit.
func TestEndOfAFailureComesFirst(t *testing.T) {
	l := packtest.LogOf()
	call := func(command, said string) {
		l.Append([]byte(fmt.Sprintf(`{"role":"assistant","content":"","tool_calls":[{"id":"c","name":"bash","arguments":"{\"command\":%s}"}]}`, strings.ReplaceAll(strconv.Quote(command), `"`, `\"`))))
		l.Append([]byte(fmt.Sprintf(`{"role":"tool","tool_call_id":"c","content":%q}`, said)))
	}
	var states States
	lines := func(in Input) []string {
		s, err := states.At(context.Background(), l, 0, l.Len())
		if err != nil {
			t.Fatal(err)
		}
		return s.Lines(in)
	}
	call("git commit", "error: hook failed: "+strings.Repeat("a long reason ", 10))
	told := lines(input(1000))
	call("git commit", "[main 45ffe0a] Release")
	call("make deploy", "ERROR: "+strings.Repeat("another reason ", 10))
	in := input(60)
	in.Told, in.Since = told, 2
	got := lines(in)
	if want := []string{"git commit: passed at 4"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}

	// What did not fit is told the next time; what was told is not told again.
	in.Room = 10
	if got := lines(in); len(got) != 0 {
		t.Errorf("%q", got)
	}
	in.Room, in.Since = 1000, 6
	if got := lines(in); len(got) != 1 || !strings.HasPrefix(got[0], "git commit: failed at 2: error: hook failed") || !strings.HasSuffix(got[0], "; passed at 4: [main 45ffe0a] Release") {
		t.Errorf("%q", got)
	}
	in.Told = append(in.Told, "git commit: passed at 4")
	if got := lines(in); len(got) != 0 {
		t.Errorf("told again: %q", got)
	}
}

func TestLinesKeepTheirRoom(t *testing.T) {
	l := workingLog(300)
	var states States
	s, err := states.At(context.Background(), l, 0, 300)
	if err != nil {
		t.Fatal(err)
	}
	for room := range 500 {
		sum := 0
		for _, line := range s.Lines(input(room)) {
			sum += len(line)
		}
		if sum > room {
			t.Fatalf("%d of %d", sum, room)
		}
	}
}

// Edits were not counted if the result preceded the call.
func TestResultBeforeItsCall(t *testing.T) {
	l := packtest.LogOf()
	edit := func(id string) []byte {
		return []byte(fmt.Sprintf(`{"role":"assistant","content":"","tool_calls":[`+
			`{"id":%q,"name":"Edit","arguments":"{\"file_path\":\"a.go\"}"}]}`, id))
	}
	answer := func(id string) []byte {
		return []byte(fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":"The file a.go has been updated."}`, id))
	}

	for _, record := range [][]byte{edit("a"), answer("a"), answer("b"), edit("b"), edit("c"), answer("d"), answer("c"),
		edit("d")} {
		l.Append(record)
	}
	var known States
	s, err := known.At(context.Background(), l, 0, l.Len())
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.Lines(input(1000)), "\n"); got != "a.go: edited at 8" {
		t.Errorf("%s", got)
	}
}
