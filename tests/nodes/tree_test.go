// Package nodestest reads what left the prompt and what repeats through the mount, and stores blobs as users do.
package nodestest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

const (
	swapIndex  = ctxabi.SwapIndexFile
	dedupIndex = ctxabi.DedupIndex
)

// ls lists a directory of the session.
func ls(t *testing.T, s *harness.Session, dir string) map[string]bool {
	t.Helper()
	entries, err := os.ReadDir(s.Path(dir))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name()] = true
	}
	return names
}

// refOf reads user.ctx.ref of a chunk or blob.
func refOf(t *testing.T, s *harness.Session, file string) (ref ctxabi.ContentRef) {
	t.Helper()
	value, err := s.Xattr(file, "ref")
	if err == nil {
		err = json.Unmarshal([]byte(value), &ref)
	}
	if err != nil {
		t.Fatalf("user.ctx.ref of %s: %v", file, err)
	}
	return ref
}

// means finds the bytes that a ref means in the logs themselves.
func means(t *testing.T, s *harness.Session, ref ctxabi.ContentRef) string {
	t.Helper()
	lines := strings.SplitAfter(s.Read(ref.Source), "\n")
	if ref.Form == ctxabi.FormLines {
		return strings.Join(lines[ref.Start-1:ref.End], "")
	}
	line := []byte(strings.TrimSuffix(lines[ref.Start-1], "\n"))
	var text string
	event, isEvent := ctxabi.DecodeToolEvent(line)
	isEvent = isEvent && ref.Source == ctxabi.EventsFile
	msg := ctxabi.DecodeMessage(line)
	switch {
	case isEvent && ref.Form == ctxabi.FormText:
		text = event.Text
	case isEvent:
		text = event.Arguments
	case ref.Form == ctxabi.FormText:
		text = msg.Text
	case ref.Form == ctxabi.FormResult:
		text = msg.Results[ref.Part].Text
	case ref.Form == ctxabi.FormArguments:
		text = msg.Calls[ref.Part].Arguments
	default:
		text = string(ctxabi.Payloads(line)[ref.Part].Bytes)
	}
	text = text[ref.Offset:]
	if ref.Length > 0 {
		text = text[:ref.Length]
	}
	return text
}

// mustBeTrue checks a chunk or blob: its name, its size, its hash, and what it stands for.
func mustBeTrue(t *testing.T, s *harness.Session, dir, id string, bytesOf int64) string {
	t.Helper()
	file := filepath.Join(dir, id)
	content := s.Read(file)
	if hash := harness.BlobID(content); hash != id || int64(len(content)) != bytesOf {
		t.Errorf("%s has %d bytes with the hash %s, its row says %d", file, len(content), hash, bytesOf)
	}
	if fi, err := os.Stat(s.Path(file)); err != nil || fi.Size() != int64(len(content)) || fi.Mode()&^0o040 != 0o400 {
		t.Errorf("%s: %v, %v", file, fi, err)
	}
	return content
}

// swapTree checks the tree of a session and gives its rows.
func swapTree(t *testing.T, s *harness.Session) []ctxabi.SwapRow {
	t.Helper()
	list := harness.Rows[ctxabi.SwapRow](t, s, swapIndex)
	names := ls(t, s, ctxabi.SwapChunkDir)
	for i, row := range list {
		if !names[row.ID] {
			t.Errorf("%s is not listed", row.ID)
		}
		content := mustBeTrue(t, s, ctxabi.SwapChunkDir, row.ID, row.Bytes)
		ref := refOf(t, s, ctxabi.SwapChunkDir+"/"+row.ID)
		if ref.ID() != row.ID || means(t, s, ref) != content {
			t.Errorf("row %d: %+v is not what %+v means", i+1, row, ref)
		}
		if row.Summary == "" || strings.Contains(row.Summary, "\n") || row.Tokens < 1 {
			t.Errorf("row %d: %+v", i+1, row)
		}
	}
	return list
}

// dedupTree checks the tree of a session and gives its rows by id.
func dedupTree(t *testing.T, s *harness.Session) map[string]ctxabi.BlobRow {
	t.Helper()
	list := harness.Rows[ctxabi.BlobRow](t, s, dedupIndex)
	names := ls(t, s, ctxabi.DedupBlobDir)
	byID := map[string]ctxabi.BlobRow{}
	for i, row := range list {
		if _, twice := byID[row.Hash]; twice || !names[row.Hash] {
			t.Errorf("%s stands twice (%v) or is not listed", row.Hash, twice)
		}
		byID[row.Hash] = row
		content := mustBeTrue(t, s, ctxabi.DedupBlobDir, row.Hash, row.Bytes)
		if row.Source == ctxabi.BlobOfUser {
			continue
		}
		ref := refOf(t, s, ctxabi.DedupBlobDir+"/"+row.Hash)
		if source := fmt.Sprintf("%s:%d", strings.TrimSuffix(ref.Source, ".jsonl"), ref.Start); means(t, s, ref) != content || source != row.Source {
			t.Errorf("row %d: %+v is not what %+v means", i+1, row, ref)
		}
		if row.Kind == ctxabi.BlobText && row.Count < 2 {
			t.Errorf("row %d: %+v does not repeat", i+1, row)
		}
	}
	if len(names) != len(list) {
		t.Errorf("%d blobs are listed, there are %d rows", len(names), len(list))
	}
	return byID
}

// source looks like a program; other seeds give other lines.
func source(seed, lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "func step%d_%d(in []byte) (out []byte, err error) { return run%d(in, %d) }\n", seed, i, (seed*31+i*7)%97, i*seed)
	}
	return b.String()
}

// talk appends turns of a session that reads files and runs tests.
func talk(s *harness.Session, from, to int) {
	var b strings.Builder
	for i := from; i <= to; i++ {
		call := fmt.Sprintf("c%d", i)
		b.WriteString(harness.Message("user", fmt.Sprintf("Please look at part %d of the program and tell me what it does.", i)))
		b.WriteString(harness.Record(map[string]any{"role": "assistant",
			"content": "I will read it.", "tool_calls": []any{
				map[string]any{"id": call, "type": "function", "function": map[string]any{"name": "read_file", "arguments": fmt.Sprintf(`{"path":"part%d.go"}`, i)}}}}))
		b.WriteString(harness.Record(map[string]any{"role": "tool", "tool_call_id": call, "content": source(i%7, 40)}))
		b.WriteString(harness.Message("assistant", fmt.Sprintf("Part %d has 40 functions that call one another.", i)))
	}
	s.Append(ctxabi.MessagesFile, b.String())
}
