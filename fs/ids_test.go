package fs

import (
	"log/slog"
	"path/filepath"
	"syscall"
	"testing"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/memory"
	"github.com/ctxfs/ctxfs/pack/builder"
	"github.com/ctxfs/ctxfs/search"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

// A kernel that outlives the daemon asks for nodes by their numbers alone.
func TestNodeIsRevivedByItsNumber(t *testing.T) {
	store, err := session.Open(filepath.Join(t.TempDir(), "store"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	packs, err := builder.NewBuilder(builder.Config{})
	if err != nil {
		t.Fatal(err)
	}
	uid, gid := uint32(unix.Getuid()), uint32(unix.Getgid())
	x, err := store.Create(ctxabi.Ref{UID: uid, Agent: "a", Session: "s"}, disk.Owner{UID: uid, GID: gid, Mode: 0o700})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.Messages().Append(t.Context(), log.Batch{Data: []byte(`{"role":"user","content":"hi"}` + "\n")}); err != nil {
		t.Fatal(err)
	}
	if err := x.MakeChild("kid"); err != nil {
		t.Fatal(err)
	}
	engine := search.New(store, search.Config{})
	defer engine.Close()
	tr, err := newTree(Options{Store: store, Builder: packs, Search: engine, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(tr.rootFd)
	tr.raw = &rawFS{t: tr, work: memory.NewIdle(), RawFileSystem: gofs.NewNodeFS(&rootDir{t: tr}, &gofs.Options{ExternalNodeID: true, NullPermissions: true,
		RootStableAttr: &gofs.StableAttr{Ino: fuse.FUSE_ROOT_ID, Gen: 1}})}
	cancel := make(chan struct{})
	revive := func(rel string, mode uint32) (id uint64) {
		t.Helper()
		id = roleAttr(mode, x.ID(), rel).Ino
		var out fuse.EntryOut
		code := tr.raw.Lookup(cancel, &fuse.InHeader{NodeId: id}, ".", &out)
		if !code.Ok() || out.NodeId != id || out.Mode&syscall.S_IFMT != mode {
			t.Errorf("%q: %v, node %x of mode %o, want %x of mode %o", rel, code, out.NodeId, out.Mode, id, mode)
		}
		return id
	}
	dirs := map[string]string{ // with a name that is in them, "" where they are empty
		"": ctxabi.MessagesFile, ctxabi.ContextDir: "budget", ctxabi.PinnedDir: "", ctxabi.LineDir: "1",
		ctxabi.AtDir: "1", ctxabi.ServedDir: "", ctxabi.SummariesDir: "", ctxabi.AskDir: "request.json",
		ctxabi.SearchDir: "hi", ctxabi.ChildDir: "kid", ctxabi.SwapDir: "index.jsonl", ctxabi.SwapChunkDir: "", ctxabi.DedupDir: "blob", ctxabi.DedupBlobDir: "",
	}
	absent := map[string]bool{ctxabi.CwdFile: true, ctxabi.ProjectFile: true, ctxabi.RecipeFile: true, ctxabi.EnvFile: true, ctxabi.PlanFile: true, ctxabi.DiffFile: true, ctxabi.HandoffFile: true}
	for _, e := range table.revived {
		if _, tried := dirs[e.path]; e.mode == modeDir && !tried {
			t.Errorf("%s is not tried", e.path)
		}
		if e.mode == modeFile && !absent[e.path] {
			revive(e.path, syscall.S_IFREG)
		}
	}
	for rel, name := range dirs {
		id := revive(rel, syscall.S_IFDIR)
		if name != "" {
			if code := tr.raw.Lookup(cancel, &fuse.InHeader{NodeId: id}, name, &fuse.EntryOut{}); !code.Ok() {
				t.Errorf("%s in %q: %v", name, rel, code)
			}
		}
		if code := tr.raw.Lookup(cancel, &fuse.InHeader{NodeId: id}, "nothing\x01", &fuse.EntryOut{}); code == fuse.Status(syscall.ESTALE) {
			t.Errorf("%q was found by its number and is of no use", rel)
		}
	}
	for _, id := range []uint64{12345, classTree<<classShift | 1, classSession<<classShift | 1, plainBit | 7} {
		if code := tr.raw.Lookup(cancel, &fuse.InHeader{NodeId: id}, ".", &fuse.EntryOut{}); code != fuse.Status(syscall.ESTALE) {
			t.Errorf("%x: %v, want ESTALE", id, code)
		}
	}
}

func TestClassOfNumber(t *testing.T) {
	x := &unix.Statx_t{Ino: 1<<40 | 5, Mask: unix.STATX_BTIME}
	for _, c := range []struct {
		ino, class uint64
	}{
		{treeAttr(0, "home").Ino, classTree},
		{roleAttr(0, "id", "state").Ino, classSession},
		{contentAttr("id", "pack.md", "x").Ino, classContent},
		{plainAttr(x, 0).Ino, 8},
	} {
		if c.ino>>classShift != c.class {
			t.Errorf("%x is not of class %d", c.ino, c.class)
		}
	}
	if hashIno(1, "a", "bc") == hashIno(1, "ab", "c") {
		t.Error("parts run into each other")
	}
}

// A read of one file failed with EIO because another one had got its inode number on the disk.
func TestReusedDiskInodeIsAnotherFile(t *testing.T) {
	first := &unix.Statx_t{Ino: 7, Mask: unix.STATX_BTIME, Btime: unix.StatxTimestamp{Sec: 1}}
	second := *first
	second.Btime.Nsec++
	if plainAttr(first, 0).Ino == plainAttr(&second, 0).Ino {
		t.Error("two files, one after the other, have the same number")
	}
	if linked := *first; plainAttr(first, 0) != plainAttr(&linked, 0) {
		t.Error("one file has two numbers")
	}
}
