package transcript

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
)

const said = `{"type":"user","sessionId":"s1","cwd":"/home/me/gateway","uuid":"u1","parentUuid":null,"isSidechain":false,"userType":"external","version":"2.0.14","timestamp":"2026-03-09T09:12:34.118Z","message":{"role":"user","content":"Hello."}}` + "\n"

// What programs write is brought when it comes and when it grows, wherever it comes, also what another import was in the way of.
func TestFollowBringsWhatIsNewAndWhatGrows(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".claude", "projects")
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	brought := make(chan Kept)
	answers := make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Follow(ctx, []string{dir}, func(k Kept) error {
			brought <- k
			return <-answers
		}, func(err error) { t.Error(err) })
	}()
	wait := func(size int64, answer error) (k Kept) { // until the transcript is brought when it has so many bytes
		t.Helper()
		for {
			select {
			case k = <-brought:
				fi, err := os.Stat(k.File)
				if err != nil {
					t.Fatal(err)
				}
				answers <- answer
				if fi.Size() >= size {
					return k
				}
			case err := <-ended:
				t.Fatalf("it ended: %v", err)
			case <-time.After(time.Minute):
				t.Fatal("it is not brought")
			}
		}
	}
	n := int64(len(said))
	write("-home-me-gateway/s1.jsonl", said)
	if k := wait(n, nil); k.Session != "s1" || k.Cwd != "/home/me/gateway" || k.Program != "claude-code" {
		t.Errorf("%+v", k)
	}
	write("-home-me-gateway/s1.jsonl", said)
	wait(2*n, nil)
	write("-home-me-gateway/s1/subagents/agent-a.jsonl", said)
	if k := wait(2*n, nil); filepath.Base(k.File) != "s1.jsonl" {
		t.Errorf("%+v", k)
	}
	write("-home-me-gateway/s1.jsonl", said)
	wait(3*n, ctxabi.E("import", "s1", ctxabi.ErrLocked, "another import"))
	wait(3*n, nil)
	cancel()
	for {
		select {
		case <-brought:
			answers <- nil
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
			return
		}
	}
}

// The conversations of a chat's sub-agents belong to it in any depth.
func TestNestedAgentsBelongToTheirChat(t *testing.T) {
	chats := filepath.Join(t.TempDir(), geminiChats)
	chat, agent := filepath.Join(chats, "session-2026-11-22T22-20-eaf49a22.jsonl"), filepath.Join(chats, "eaf49a22-aebe", "sub1", "sub2.jsonl")
	head := `{"sessionId":"eaf49a22-aebe","projectHash":"h","startTime":"2026-11-22T22:20:50.000Z","kind":"%"}` + "\n"
	for name, kind := range map[string]string{chat: "main", agent: "subagent"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(strings.ReplaceAll(head, "%", kind)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if parts := sessionOf(chat); len(parts) != 2 || parts[1].name != agent {
		t.Errorf("the chat has the parts %v", parts)
	}
	if owner := ownerOf(agent); owner != chat {
		t.Errorf("the agent belongs to %q", owner)
	}
	if kept, unknown, err := KeptIn([]string{filepath.Dir(chats)}); len(kept) != 1 || kept[0].File != chat || unknown != nil || err != nil {
		t.Errorf("kept are %v, unknown %v, %v", kept, unknown, err)
	}
}
