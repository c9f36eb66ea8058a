package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/log"
)

// prose is what a message of about n bytes looks like.
func prose(n int) string {
	return strings.Repeat("The refresh of a token failed at auth/refresh.go:88: \"expired\",\nretry 3 of 5. ", n/75+1)[:n]
}

func BenchmarkStageWrite1KiB(b *testing.B) {
	s := openStore(b, b.TempDir(), session.Options{})
	x := create(b, s, refA)
	stage := x.Messages().NewStage(root)
	rec := []byte(msg("assistant", prose(960)))
	b.SetBytes(int64(len(rec)))
	b.ReportAllocs()
	key := arrival.Key{Conn: 1}
	for b.Loop() {
		key.Unique++
		if _, err := stage.Write(ctx, rec, 0, true, key); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNativeAppend1KiB is the baseline: two plain appends.
func BenchmarkNativeAppend1KiB(b *testing.B) {
	var files [2]*os.File
	for i := range files {
		f, err := os.OpenFile(filepath.Join(b.TempDir(), "f"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		files[i] = f
	}
	rec, row := make([]byte, 1024), make([]byte, 280)
	for b.Loop() {
		files[0].Write(row)
		files[1].Write(rec)
	}
}

func BenchmarkCheckMessage(b *testing.B) {
	rec := []byte(strings.TrimSuffix(msg("assistant", prose(960)), "\n"))
	b.SetBytes(int64(len(rec)))
	for b.Loop() {
		if err := ctxabi.CheckMessage(rec); err != nil {
			b.Fatal(err)
		}
	}
}

func largeLog(b *testing.B, n int) (*session.Store, *session.Session, string) {
	dir := b.TempDir()
	s := openStore(b, dir, session.Options{})
	x := create(b, s, refA)
	var batch strings.Builder
	for i := range n {
		if i%4 == 3 {
			fmt.Fprintf(&batch, `{"role":"tool","tool_call_id":"c%d","content":%q}`+"\n", i-1, prose(960))
		} else if i%4 == 2 {
			fmt.Fprintf(&batch, `{"role":"assistant","content":%q,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"f","arguments":"{}"}}]}`+"\n", prose(860), i)
		} else {
			batch.WriteString(msg("user", prose(960)))
		}
		if i%10 == 9 || i == n-1 {
			if _, err := x.Messages().Append(ctx, log.Batch{Data: []byte(batch.String()), Writer: root}); err != nil {
				b.Fatal(err)
			}
			batch.Reset()
		}
	}
	return s, x, dir
}

func BenchmarkIndexFromScratch(b *testing.B) {
	s, x, dir := largeLog(b, 50_000)
	b.SetBytes(x.Messages().Len())
	s.Close()
	for b.Loop() {
		os.Remove(filepath.Join(x.Dir(), ".ctxfs/index"))
		s := openStore(b, dir, session.Options{ReadOnly: true})
		y, _ := s.Session(refA)
		if ix, err := y.Messages().Index(); err != nil || ix.Len() != 50_000 {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpenWithIndex(b *testing.B) {
	s, x, dir := largeLog(b, 50_000)
	x.Messages().Index()
	s.Close()
	for b.Loop() {
		s, err := session.Open(dir, session.Options{})
		if err != nil {
			b.Fatal(err)
		}
		y, _ := s.Session(refA)
		if ix, err := y.Messages().Index(); err != nil || ix.Len() != 50_000 {
			b.Fatal(err)
		}
		s.Close()
	}
}

func BenchmarkCreateSession(b *testing.B) {
	s := openStore(b, b.TempDir(), session.Options{})
	for i := 0; b.Loop(); i++ {
		create(b, s, ctxabi.Ref{UID: 1000, Agent: "a", Session: fmt.Sprint("s", i)})
	}
}
