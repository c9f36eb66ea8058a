package past

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// A copy of a session holds what was read, and making one ends.
func TestCopiesAndWalksEnd(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	r := &reading{Session: m.NewSession(t), t: t}
	r.Read(ctxabi.AskFile) // enables requests now, because the walk below would enable them later
	for range 5 {
		r.next()
	}
	out := harness.TempDir(t)
	r.Bash("find . -type f -exec grep -l 'turn3 says' {} + | sort; ls -laR . ; du -s .").OK()
	m.Run(t, harness.Client{UID: r.UID, Dir: "/", Argv: []string{"cp", "-a", r.Dir, out + "/copy"}}).OK()
	for i, row := range rows(t, r.Session) {
		if b, err := os.ReadFile(out + "/copy/context/served/" + row.PackID + ".md"); err != nil || string(b) != r.read[i] {
			t.Errorf("row %d in the copy: %q, %v", i, b, err)
		}
	}
	if b, err := os.ReadFile(out + "/copy/context/packs.jsonl"); err != nil || string(b) != r.Read("context/packs.jsonl") {
		t.Errorf("the rows in the copy: %q, %v", b, err)
	}
	if entries, err := os.ReadDir(out + "/copy/context/at"); err != nil || len(entries) != 0 {
		t.Errorf("context/at in the copy: %v, %v", entries, err)
	}
	m.Run(t, harness.Client{UID: r.UID, Dir: "/", Argv: []string{"cp", "-a", r.Path("context/at/3"), out + "/three"}}).OK()
	if b, err := os.ReadFile(out + "/three/pack.md"); err != nil || string(b) != r.read[2] {
		t.Errorf("a copy of one moment: %q, %v", b, err)
	}
}

// What the store holds is not taken on trust.
func TestAPackThatWasDamagedIsRefused(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	r := &reading{Session: m.NewSession(t), t: t}
	r.next()
	id := rows(t, r.Session)[0].PackID
	m.Stop()
	file := filepath.Join(r.InStore(), ".ctxfs/served/1")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(b), "turn1 says", "turn7 says", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	m.Restart()
	if got, err := os.ReadFile(r.Path("context/served/" + id + ".md")); !errors.Is(err, unix.EIO) {
		t.Errorf("got %q, %v; want EIO", got, err)
	}
	if list := r.Errors(); len(list) == 0 || list[len(list)-1].Errno != "EIO" || !strings.Contains(list[len(list)-1].Path, id) {
		t.Errorf("errors.jsonl: %+v", list)
	}
}

// On a full disk packs are read as ever. It is told once that nothing is kept, and goes on when there is room.
func TestAFullDiskKeepsNobodyFromReading(t *testing.T) {
	harness.NeedRoot(t)
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=8m,mode=0700"); err != nil {
		t.Fatal(err)
	}
	defer unix.Unmount(disk, unix.MNT_DETACH)
	m := harness.Start(t, harness.Options{Store: filepath.Join(disk, "store")})
	r := &reading{Session: m.NewSession(t), t: t}
	const pins = 40
	for i := range pins {
		r.Write(fmt.Sprintf("context/pinned/%d", i), fmt.Sprintf("rule %d\n", i))
	}
	r.next()
	filler := filepath.Join(disk, "filler")
	fill := func() {
		t.Helper()
		if err := exec.Command("sh", "-c", "cat /dev/zero >> "+filler).Run(); err == nil {
			t.Fatal("the disk is not full")
		}
	}
	for i := range pins { // to remove one takes no room, and makes another pack
		if err := os.Remove(r.Path(fmt.Sprintf("context/pinned/%d", i))); err != nil {
			t.Fatal(err)
		}
		fill() // what it had
		got := r.Bash("cat context/pack.md; cat context/pack.report.md context/at/1/pack.json > /dev/null; cat context/packs.jsonl > /dev/null").OK()
		if strings.Contains(got, fmt.Sprintf("rule %d\n", i)) || i+1 < pins && !strings.Contains(got, fmt.Sprintf("rule %d\n", i+1)) {
			t.Errorf("without pin %d:\n%s", i, got)
		}
	}
	told := 0
	for _, row := range r.Errors() {
		if row.Op == "serve" {
			told++
		}
	}
	kept := len(rows(t, r.Session))
	// A row that happened to fit in between ends a trouble.
	if told < 1 || told*4 > pins+1-kept {
		t.Errorf("%d rows of %d packs, %d reports of one full disk: %+v", kept, pins+1, told, r.Errors())
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	r.next()
	list := rows(t, r.Session)
	if got := r.Read("context/served/" + list[len(list)-1].PackID + ".md"); got != r.read[len(r.read)-1] {
		t.Errorf("with room again:\n%s", got)
	}
	m.Stop()
}
