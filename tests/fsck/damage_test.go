package fscktest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/pack/builder"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/check"
	"github.com/ctxfs/ctxfs/session/log"
)

// damage is something that happens to a file of a store.
type damage struct {
	kind string
	rel  string
	with string // the other file, of a swap
}

// The kinds of damage.
var damages = []string{"a bit", "some bytes", "zeros", "cut", "removed", "garbage behind", "swapped", "zeros behind", "a byte in it", "a byte out of it"}

// hit damages a file, and says whether its content is another one now.
func (d damage) hit(t *rapid.T, dir string) bool {
	name := filepath.Join(dir, d.rel)
	old := made.files[d.rel]
	b := bytes.Clone(old)
	at := func(what string) int { return rapid.IntRange(0, max(len(b)-1, 0)).Draw(t, what) }
	var err error
	switch d.kind {
	case "removed":
		if err := os.Remove(name); err != nil {
			t.Fatalf("%v", err)
		}
		return true
	case "swapped":
		b, err = os.ReadFile(filepath.Join(dir, d.with))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, d.with), old, 0o600)
		}
	case "a bit":
		if len(b) > 0 {
			b[at("byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		}
	case "some bytes":
		for i := at("from"); i < min(len(b), i+20); i += 3 {
			b[i] = rapid.Byte().Draw(t, "byte")
		}
	case "zeros":
		if len(b) > 0 {
			from := at("from")
			clear(b[from:rapid.IntRange(from, len(b)).Draw(t, "to")])
		}
	case "cut":
		b = b[:at("length")]
	case "garbage behind":
		b = append(b, rapid.SliceOfN(rapid.Byte(), 1, 200).Draw(t, "garbage")...)
	case "zeros behind":
		b = append(b, make([]byte, rapid.IntRange(1, 5000).Draw(t, "zeros"))...)
	case "a byte in it":
		b = slices.Insert(b, at("where"), rapid.Byte().Draw(t, "byte"))
	case "a byte out of it":
		if len(b) > 0 {
			i := at("which")
			b = slices.Delete(b, i, i+1)
		}
	}
	if err == nil {
		err = os.WriteFile(name, b, 0o600)
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
	return !bytes.Equal(b, old)
}

// inSession splits a path of the store.
func inSession(rel string) (name, file string) {
	parts := strings.SplitN(rel, "/", 7)
	if len(parts) < 7 {
		return "", rel
	}
	return parts[5], parts[6]
}

// unseen returns why nobody can tell that a file was damaged. This list is what docs/store.md says.
func (d damage) unseen(dir string) string {
	name, file := inSession(d.rel)
	data, _ := os.ReadFile(filepath.Join(dir, d.rel))
	switch {
	case name == "" && d.rel != session.StoreFile && !strings.HasPrefix(d.rel, ownIndex()):
		return "the agent's own file, or the daemon's log: it may hold anything"
	case strings.HasPrefix(file, "context/child/helper/artifact/"), file == "context/scratch.tmp":
		return "the agent's own file"
	case strings.HasPrefix(file, "context/.ctxfs-own.") && session.CheckControl("context/"+strings.TrimPrefix(file, "context/.ctxfs-own."), data) == nil:
		return "the agent's own text, which keeps the rules of its kind"
	case d.kind == "removed" && !truth(file) && d.rel != session.StoreFile:
		return "whoever may remove it did, or it is made again"
	case name != "" && !strings.HasPrefix(file, ".ctxfs/") && !truth(file) && session.CheckControl(file, data) == nil:
		return "the agent's own text, which keeps the rules of its kind"
	case file == ".ctxfs/errors.jsonl":
		return "a report is text: only a line that is none can be told"
	case strings.HasPrefix(file, ".ctxfs/swap/"), file == ".ctxfs/dedup/batches", file == ".ctxfs/served/rows", strings.HasPrefix(file, ".ctxfs/index"), strings.HasPrefix(file, ".ctxfs/tokens"),
		strings.HasPrefix(file, ".ctxfs/served/"):
		if d.kind == "swapped" {
			_, with := inSession(d.with)
			if strings.HasPrefix(file, ".ctxfs/served/") && strings.HasPrefix(with, ".ctxfs/served/") {
				return "segments are found by what they hold, whatever they are called"
			}
		}
		if bytes.HasPrefix(made.files[d.rel], data) {
			return "whole rows from its beginning: it is as it was earlier"
		}
		if trimmed := bytes.TrimRight(data, "\n"); bytes.Equal(bytes.ReplaceAll(trimmed, []byte("\n\n"), []byte("\n")), bytes.ReplaceAll(bytes.TrimRight(made.files[d.rel], "\n"), []byte("\n\n"), []byte("\n"))) ||
			strings.Join(strings.Fields(string(data)), " ") == strings.Join(strings.Fields(string(made.files[d.rel])), " ") {
			return "a blank line more or less"
		}
	case (file == ".ctxfs/id" || file == ".ctxfs/segments") && strings.TrimSpace(string(data)) == strings.TrimSpace(string(made.files[d.rel])):
		return "white space around it"
	}
	return ""
}

// truth reports whether a file of a session is told of elsewhere.
func truth(file string) bool {
	switch file {
	case ctxabi.MessagesFile, ctxabi.EventsFile, ".ctxfs/id", ".ctxfs/arrivals", ".ctxfs/arrivals.events", ".ctxfs/segments":
		return true
	}
	return strings.HasSuffix(file, ".zst") || strings.HasPrefix(file, ".ctxfs/served/") && file != ".ctxfs/served/rows"
}

// Whatever happens to whatever file: it is found, or nobody can tell; the rest of the store is served as it was; a
// repair touches nothing that is whole, and leaves only what is lost.
func TestAnyDamageIsFoundAndNothingElseSuffers(t *testing.T) {
	newStore(t)
	var files []string
	for rel := range made.files {
		if name, _ := inSession(rel); name != other {
			files = append(files, rel)
		}
	}
	slices.Sort(files)
	seen := map[string]int{}
	suite.Check(t, 25, func(t *rapid.T) {
		base, err := os.MkdirTemp("", "ctxfs-test-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(base)
		d := damage{kind: rapid.SampledFrom(damages).Draw(t, "damage"), rel: rapid.SampledFrom(files).Draw(t, "file")}
		hit := []string{d.rel}
		if d.kind == "swapped" {
			d.with = rapid.SampledFrom(files).Draw(t, "with")
			hit = append(hit, d.with)
		}
		dir := filepath.Join(base, "store")
		copyStore(t, dir)
		changed := d.hit(t, dir)
		damaged := map[string][]byte{}
		for _, rel := range hit {
			damaged[rel], _ = os.ReadFile(filepath.Join(dir, rel))
		}

		found := fsck(t, dir, false)
		for rel, b := range damaged {
			if got, _ := os.ReadFile(filepath.Join(dir, rel)); !bytes.Equal(got, b) {
				t.Fatalf("fsck without --repair changed %s", rel)
			}
		}
		why := d.unseen(dir)
		if d.with != "" && why == "" {
			why = damage{kind: d.kind, rel: d.with, with: d.rel}.unseen(dir)
		}
		if changed && len(found) == 0 && why == "" {
			t.Fatalf("%v: nothing was found", d)
		}
		if !changed && len(found) > 0 {
			t.Fatalf("nothing was damaged, and found:\n%s", list(found))
		}
		if len(found) > 0 {
			seen[d.kind]++
		}

		served := filepath.Join(base, "served")
		if err := os.CopyFS(served, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		serves(t, served, hit)

		repaired := fsck(t, dir, true)
		untouched(t, dir, hit)
		for rel, before := range damaged {
			intact(t, dir, rel, before)
		}
		for _, d := range fsck(t, dir, false) {
			if d.Severity != check.Lost {
				t.Fatalf("after a repair, which said\n%s\nthere is still\n%s", list(repaired), list([]check.Damage{d}))
			}
		}
	})
	if !t.Failed() && len(seen) < 5 && !testing.Short() {
		t.Errorf("only %v was ever found: this tests nothing", seen)
	}
}

// serves opens the store as a daemon does and uses all of it: the other session is what it was, and the damaged ones can be read and written.
func serves(t *rapid.T, dir string, hit []string) {
	ctx := context.Background()
	s, err := session.Open(dir, session.Options{})
	if slices.Contains(hit, session.StoreFile) && errors.Is(err, ctxabi.ErrMalformed) {
		return // fsck --repair is the way
	}
	if err != nil && slices.Contains(hit, session.StoreFile) {
		return
	}
	if err != nil {
		t.Fatalf("the store cannot be opened: %v", err)
	}
	defer s.Close()
	b, err := builder.NewBuilder(builder.Config{Budget: 3000})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for _, name := range []string{other, rich, sealed} {
		x, err := s.Session(ref(name))
		if slices.Contains(hit, in(name, ".ctxfs/id")) {
			continue // without an id it is none
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, l := range []*log.Log{x.Messages(), x.Events()} {
			data := make([]byte, l.Len())
			if _, err := l.ReadAt(data, 0); err != nil && len(data) > 0 && name != sealed && !strings.Contains(err.Error(), "EOF") {
				t.Fatalf("%s: %s: %v", name, l.Name(), err)
			}
			rel := in(name, l.Name())
			if was := made.files[rel]; name != sealed && !slices.Contains(hit, rel) && !slices.Contains(hit, in(name, ".ctxfs/arrivals")) && !slices.Contains(hit, in(name, ".ctxfs/arrivals.events")) && !bytes.Equal(data, was) {
				t.Fatalf("%s of %s is served with other bytes", l.Name(), name)
			}
			row := `{"role":"user","type":"note","content":"after the damage"}` + "\n"
			if _, err := l.Append(ctx, log.Batch{Data: []byte(row)}); err != nil {
				t.Fatalf("%s takes no record: %v", rel, err)
			}
			tail := make([]byte, len(row))
			if _, err := l.ReadAt(tail, l.Len()-int64(len(row))); err != nil && !strings.Contains(err.Error(), "EOF") || string(tail) != row {
				t.Fatalf("%s: the record that was taken is %q, %v", rel, tail, err)
			}
		}
		// A large file in the place of the agent's system prompt, which may hold anything, is refused for its size.
		tooMuch := slices.Contains(hit, path.Join(ref(other).AgentHome(), ctxabi.SystemPromptFile))
		if _, err := b.Current(ctx, x); err != nil && name == other && !(tooMuch && errors.Is(err, ctxabi.ErrOverBudget)) {
			t.Fatalf("%s gives no pack: %v", name, err)
		}
		x.Blobs()
		if served, err := x.Served(); err == nil {
			for _, p := range served.Packs() {
				served.Pack(p.ID)
			}
		}
	}
}

// untouched fails the test unless a repair left alone whatever was not damaged: caches apart, which may be made anew.
func untouched(t *rapid.T, dir string, hit []string) {
	same(t, dir, func(rel string) bool {
		name, file := inSession(rel)
		if slices.Contains(hit, rel) || strings.HasPrefix(rel, ownIndex()) {
			return true
		}
		inside := strings.HasPrefix(file, ".ctxfs/")
		near := slices.ContainsFunc(hit, func(h string) bool { n, _ := inSession(h); return n == name })
		switch {
		case near && inside && !strings.HasPrefix(file, ".ctxfs/blobs/") && file != ".ctxfs/id":
			return true // rows and caches of a log that is damaged
		case near && (file == ctxabi.MessagesFile || file == ctxabi.EventsFile):
			return true // its end, where the rows are damaged: intact looks at it
		case inside && (strings.Contains(file, "index") || strings.Contains(file, "tokens")):
			return true
		}
		return false
	})
	for _, name := range []string{rich, sealed} {
		for _, log := range []string{ctxabi.MessagesFile, ctxabi.EventsFile} {
			if rel := in(name, log); !slices.Contains(hit, rel) {
				intact(t, dir, rel, made.files[rel])
			}
		}
	}
}

// intact fails the test unless all records that a log had before a repair are in it, byte for byte and in order.
func intact(t *rapid.T, dir, rel string, before []byte) {
	_, file := inSession(rel)
	check := map[string]func([]byte) error{ctxabi.MessagesFile: ctxabi.CheckMessage, ctxabi.EventsFile: ctxabi.CheckEvent}[path.Base(file)]
	if check == nil {
		return
	}
	after, err := os.ReadFile(filepath.Join(dir, rel))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(before, after) {
		t.Fatalf("a repair changed bytes of %s", rel)
	}
	for line := range bytes.Lines(before[len(after):]) {
		if line, whole := bytes.CutSuffix(line, []byte("\n")); whole && check(line) == nil {
			t.Fatalf("a repair took a record out of %s: %q", rel, line)
		}
	}
}

func (d damage) String() string { return fmt.Sprintf("%s: %s %s", d.kind, d.rel, d.with) }
