package files_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/internal/suite"
)

// Whatever users of two hosts do to files, at the same time and without knowing of each other, the hosts show the
// same in the end, and each content that was closed, and that nobody has removed or replaced, is in a file.
func TestNoContentIsLost(t *testing.T) {
	_, hosts := newCluster(t, "a", "b")
	clients := []*remote{hosts[0].client(), hosts[1].client()}
	did := map[string]int{}
	round := 0
	suite.Check(t, suite.Pick(t, 40, 400), func(t *rapid.T) {
		round++
		m := &model{clients: clients, kept: map[string]bool{}, open: map[int]*opened{}, did: did, dir: fmt.Sprint("r", round)}
		for _, dir := range []string{"", "/d", "/e"} {
			if got := clients[0].do(t, ask{Op: "mkdir", Path: m.dir + dir}); got.Error != "" {
				t.Fatalf("%+v", got)
			}
		}
		defer func() {
			for file := range m.open {
				clients[m.open[file].host].do(t, ask{Op: "close", File: file})
			}
		}()
		for range rapid.IntRange(20, 60).Draw(t, "steps") {
			m.step(t)
		}
		for file := range m.open {
			m.close(t, file)
		}
		same(t, m.dir, hosts...)
		if t.Failed() {
			t.Logf("done was\n%s", strings.Join(m.done, "\n"))
		}
		all := m.contents(t, hosts[1])
		for content := range m.kept {
			if !strings.Contains(all, content) {
				t.Errorf("%q was closed, and is nowhere; done was\n%s", content, strings.Join(m.done, "\n"))
			}
		}
	})
	for _, what := range []string{"open", "write", "close", "save", "read", "mkdir", "rmdir", "unlink", "rename", "chmod", "truncate", "symlink", "conflict"} {
		if did[what] == 0 {
			t.Errorf("%s was never done: too little to say anything", what)
		}
	}
}

// opened is a file that a client has open.
type opened struct {
	host    int
	ino     uint64
	gone    bool   // a user of the host has removed or replaced it
	content string // of what it has written
}

type model struct {
	clients []*remote
	dir     string
	kept    map[string]bool // contents that were closed, and that no user has removed or replaced
	open    map[int]*opened
	files   int
	writes  int
	did     map[string]int
	done    []string
}

// do has a client do something.
func (m *model) do(t *rapid.T, host int, a ask) answer {
	got := m.clients[host].do(t, a)
	m.done = append(m.done, fmt.Sprintf("host %d: %+v: %+v", host, a, got))
	return got
}

// name draws the path of a file or of a directory.
func (m *model) name(t *rapid.T, label string) string {
	list := []string{"f", "g", "d", "d/f", "d/g", "e", "e/f", "d/s"}
	return m.dir + "/" + rapid.SampledFrom(list).Draw(t, label)
}

// step does something on one host.
func (m *model) step(t *rapid.T) {
	host := rapid.IntRange(0, 1).Draw(t, "host")
	op := rapid.SampledFrom([]string{"open", "open", "write", "write", "write", "close", "close", "save", "save", "read", "mkdir", "mkdir", "rmdir", "unlink", "rename", "rename", "chmod", "truncate", "symlink"}).Draw(t, "op")
	a := ask{Op: op, Path: m.name(t, "path")}
	switch op {
	case "open":
		m.files++
		a.File = m.files
	case "write", "close":
		if len(m.open) == 0 {
			return
		}
		a.File = rapid.SampledFrom(sortedKeys(m.open)).Draw(t, "file")
		if op == "close" {
			m.close(t, a.File)
			return
		}
		host = m.open[a.File].host
		m.writes++
		a.Data = fmt.Sprintf("<%s-%d>", m.dir, m.writes)
	case "save":
		m.writes++
		a.Data = fmt.Sprintf("<%s-%d>", m.dir, m.writes)
	case "rename":
		a.To = m.name(t, "to")
	case "symlink":
		a.To = "f"
	}
	// What a user removes or replaces himself he does not miss.
	switch op {
	case "unlink", "save", "truncate":
		m.forget(t, host, a.Path)
	case "rename":
		m.forget(t, host, a.To)
	}
	got := m.do(t, host, a)
	if got.Error != "" {
		return
	}
	m.did[op]++
	switch op {
	case "open":
		m.open[a.File] = &opened{host: host, ino: got.Ino}
	case "write":
		if o := m.open[a.File]; !o.gone {
			o.content += a.Data
		}
	case "save":
		m.kept[a.Data] = true
	}
}

// forget takes what a file of a host has out of what must be kept.
func (m *model) forget(t *rapid.T, host int, path string) {
	got := m.do(t, host, ask{Op: "read", Path: path})
	data := got.Data
	for content := range m.kept {
		if strings.Contains(data, content) {
			delete(m.kept, content)
		}
	}
	for _, o := range m.open { // those of this host go on in a file without a name
		if o.host == host && o.ino == got.Ino && got.Ino != 0 {
			o.gone, o.content = true, ""
		}
	}
}

// close closes a file.
func (m *model) close(t *rapid.T, file int) {
	o := m.open[file]
	delete(m.open, file)
	if got := m.do(t, o.host, ask{Op: "close", File: file}); got.Error != "" {
		return
	}
	m.did["close"]++
	for _, part := range strings.SplitAfter(o.content, ">") {
		if part != "" {
			m.kept[part] = true
		}
	}
}

// contents returns all that is in files of a host, and counts conflicts.
func (m *model) contents(t *rapid.T, h *host) string {
	var all strings.Builder
	root := filepath.Join(h.store.Dir(), user.Owner(), "agent/coder/memory", m.dir)
	err := filepath.WalkDir(root, func(file string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		if strings.Contains(file, "conflict") {
			m.did["conflict"]++
		}
		data, err := os.ReadFile(file)
		all.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func sortedKeys(m map[int]*opened) []int { return slices.Sorted(maps.Keys(m)) }
