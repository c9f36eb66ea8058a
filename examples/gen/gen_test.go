package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
)

func TestCommittedFilesAreWhatTheGeneratorWrites(t *testing.T) {
	for name, want := range generate() {
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(got, want) {
			t.Errorf("examples/%s differs; run: go run ./examples/gen examples", name)
		}
	}
}

func TestEveryRecordMayEnterALog(t *testing.T) {
	files := generate()
	for name, check := range map[string]func([]byte) error{
		"session/messages.jsonl": ctxabi.CheckMessage,
		"session/events.jsonl":   ctxabi.CheckEvent,
	} {
		lines := bytes.Split(bytes.TrimSuffix(files[name], []byte("\n")), []byte("\n"))
		if len(lines) < 100 {
			t.Errorf("%s has %d records only", name, len(lines))
		}
		for i, line := range lines {
			if err := check(line); err != nil {
				t.Errorf("%s:%d: %v", name, i+1, err)
			}
		}
	}
}

func TestEveryCallHasItsResultNext(t *testing.T) {
	var waiting []string
	parallel := 0
	for i, line := range bytes.Split(bytes.TrimSpace(generate()["session/messages.jsonl"]), []byte("\n")) {
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		switch {
		case m.Role == "tool":
			if len(waiting) == 0 || waiting[0] != m.CallID {
				t.Fatalf("message %d answers %s, waiting are %v", i+1, m.CallID, waiting)
			}
			waiting = waiting[1:]
		case len(waiting) > 0:
			t.Fatalf("message %d comes before the results of %v", i+1, waiting)
		}
		for _, c := range m.Calls {
			waiting = append(waiting, c.ID)
		}
		if len(m.Calls) > 1 {
			parallel++
		}
	}
	if parallel < 10 {
		t.Errorf("%d answers call several tools, the example should show more", parallel)
	}
}
