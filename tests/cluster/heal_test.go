package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/engine/enginetest"
	"github.com/ctxfs/ctxfs/cluster/gate"
	entries "github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/nats"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/cluster/servers"
)

// damages are what is done to what a server has of a stream, the server not running: to a file of its
// entries or of the log of its group, the largest one of a name.
var damages = []struct {
	part, name string
	how        func(file string) error
}{
	{"entries", "", os.RemoveAll},
	{"entries", "*.blk", flip(0.01)},
	{"entries", "*.blk", flip(0.5)},
	{"entries", "*.blk", cut(0.6)},
	{"entries", "*.blk", os.Remove},
	{"entries", "index.db", flip(0.3)},
	{"entries", "index.db", os.Remove},
	{"entries", "meta.inf", flip(0.5)},
	{"entries", "meta.sum", flip(0.5)},
	{"entries", "meta.inf", os.Remove},
	{"log", "*.blk", flip(0.5)},
	{"log", "*.blk", cut(0.5)},
	{"log", "tav.idx", flip(0.5)},
	{"log", "meta.inf", flip(0.5)},
	{"log", "peers.idx", flip(0.5)},
	{"log", "", os.RemoveAll},
}

func flip(at float64) func(string) error {
	return func(file string) error {
		data, err := os.ReadFile(file)
		if err != nil || len(data) == 0 {
			return errors.Join(err, fmt.Errorf("%s has %d bytes", file, len(data)))
		}
		data[int(at*float64(len(data)))] ^= 1
		return os.WriteFile(file, data, 0o600)
	}
}

func cut(at float64) func(string) error {
	return func(file string) error {
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		return os.Truncate(file, int64(at*float64(info.Size())))
	}
}

// largest returns the largest file below a directory whose name matches a pattern, or the directory itself if
// the pattern is empty.
func largest(dir, pattern string) (found string, err error) {
	if pattern == "" {
		return dir, nil
	}
	size := int64(-1)
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if ok, _ := filepath.Match(pattern, d.Name()); err == nil && ok && info.Size() > size {
			found, size = name, info.Size()
		}
		return err
	})
	if err == nil && found == "" {
		err = fmt.Errorf("%s has no %s", dir, pattern)
	}
	return found, err
}

// journalOf is a journal of a shard, as it must be read: so many entries.
type journalOf struct {
	subject engine.Subject
	end     entries.Position
}

// fillShards puts a journal of n entries into each shard.
func fillShards(t *testing.T, e engine.Engine, n int) (list []journalOf) {
	t.Helper()
	for shard := range engine.Shards {
		s := enginetest.NewSession("u1000")
		for s.Shard() != shard {
			s = enginetest.NewSession("u1000")
		}
		j, last := journalOf{s, entries.Start(s)}, uint64(0)
		for i := range n {
			row := entries.Row{Kind: entries.Control, Content: fmt.Appendf(nil, "%d %d %s", shard, i, strings.Repeat(rand.Text(), 30))}
			header, payload, next, err := entries.Seal(j.end, "a", 1, []entries.Row{row})
			if err != nil {
				t.Fatal(err)
			}
			if last, err = enginetest.Append(t.Context(), e, s, last, rand.Text(), header, payload); err != nil {
				t.Fatal(err)
			}
			j.end = next
		}
		list = append(list, j)
	}
	return list
}

// Every kind of file of a server is damaged at once, each in another stream. Whoever passes the gate reads
// journals whole, from the first moment on, and the server becomes whole again without an operator.
func TestADamagedServerIsHealed(t *testing.T) {
	suite.Matrix(t, slow)
	t.Parallel()
	m := servers.Make(t)
	m.Serve(t, []int{0, 1, 2})
	whole(t, m, "n1")
	e, err := connect(t, m, "n1")
	if err != nil {
		t.Fatal(err)
	}
	journals := fillShards(t, e, 12)
	k := maintain(t, m, "n1")
	groups := map[string]string{}
	survey, err := k.Survey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range survey.Streams {
		groups[s.Name] = s.Group
	}
	for i, s := range journals { // half of the shards have their leader there
		if i%2 == 0 {
			lead(t, k, s.subject.Shard(), "n2")
		}
	}
	m.Shut(1)
	for i, d := range damages {
		stream := nats.StreamOf(journals[i%len(journals)].subject.Shard())
		dir := filepath.Join(m.Store(1), "jetstream", "CTX", "streams", stream)
		if d.part == "log" {
			dir = filepath.Join(m.Store(1), "jetstream", "SYS", "_js_", groups[stream])
		}
		file, err := largest(dir, d.name)
		if err == nil {
			err = d.how(file)
		}
		if err != nil {
			t.Errorf("damage %d: %v", i, err)
		}
	}
	begin := time.Now()
	m.Serve(t, []int{1})
	g := gate.New(e)
	passed, refused := 0, 0
	end := time.Now().Add(4 * time.Minute)
	for healed := false; !healed; {
		if time.Now().After(end) {
			t.Fatalf("it is not healed: %q", m.Status(t, "n1").Problems)
		}
		for _, j := range journals {
			if readWhole(t, e, g, j) {
				passed++
			} else {
				refused++
			}
		}
		s := m.Status(t, "n1")
		healed = len(s.Problems) == 0
	}
	t.Logf("healed after %v; %d reads passed, %d were refused", time.Since(begin).Round(time.Second), passed, refused)
	first, err := m.Try("n3", "scrub") // what nobody has read yet
	t.Logf("a scrub: %v\n%s", err, first)
	if err != nil {
		m.Run(t, "n1", "heal", "--wait", "4m")
		if again, err := m.Try("n3", "scrub"); err != nil {
			t.Errorf("a scrub after the repair: %v\n%s", err, again)
		}
	}
	if data, err := os.ReadFile(m.Log(1)); err == nil {
		for _, line := range strings.Split(string(data), "\n") {
			if strings.Contains(line, "made anew") || strings.Contains(line, "whole again") {
				t.Log(line)
			}
		}
	}
	for _, server := range []string{"n1", "n2", "n3"} { // each replica leads once
		for _, j := range journals {
			lead(t, k, j.subject.Shard(), server)
			await(t, "a whole journal from "+server, func() bool { return readWhole(t, e, g, j) })
		}
	}
}

// lead makes a server lead a shard.
func lead(t *testing.T, k *nats.Engine, shard int, server string) {
	t.Helper()
	await(t, server+" leads "+nats.StreamOf(shard), func() bool {
		now, _, err := k.Leader(t.Context(), shard)
		if err == nil && now != server {
			k.StepDown(t.Context(), nats.StreamOf(shard), server)
			now, _, err = k.Leader(t.Context(), shard)
		}
		return err == nil && now == server
	})
}

// readWhole reads a journal as a host does that makes its first copy. It reports whether it could, and fails
// the test if what it read is not all of it.
func readWhole(t *testing.T, e *nats.Engine, g *gate.Gate, j journalOf) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := g.Pass(ctx, j.subject); err != nil {
		return false
	}
	_, election, err := e.Leader(ctx, j.subject.Shard())
	if err != nil {
		return false
	}
	list, err := enginetest.ReadAll(ctx, e, j.subject, 0)
	if err != nil {
		return false
	}
	at := entries.Start(j.subject)
	for _, x := range list {
		if _, at, err = entries.Open(at, x); err != nil {
			return false // a host refuses it
		}
	}
	if _, after, err := e.Leader(ctx, j.subject.Shard()); err != nil || after != election {
		return false // a host asks the gate again then
	}
	if at != j.end {
		t.Errorf("a journal of %s has %d entries instead of %d", nats.StreamOf(j.subject.Shard()), at.I, j.end.I)
	}
	return true
}
