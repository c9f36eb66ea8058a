package session_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/check"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

func fsck(t *testing.T, d *sessiontest.Disk, repair bool) (all []check.Damage) {
	t.Helper()
	o := check.FsckOptions{Repair: repair, Options: session.Options{VFS: d, Now: d.Now}}
	if _, err := check.Fsck(ctx, "/store", o, func(found check.Damage) { all = append(all, found) }); err != nil {
		t.Fatal(err)
	}
	return all
}

// A check of the store names what is wrong with sealed parts, and sets aside what is nobody's; it removes nothing.
func TestFsckOfSealedParts(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(d *sessiontest.Disk, dir string, parts [2]string)
		want   string
		sev    check.Severity
		whole  bool // after a repair nothing is wrong any more
	}{
		{"nothing", func(d *sessiontest.Disk, dir string, parts [2]string) {}, "", "", true},
		{"a frame is damaged", func(d *sessiontest.Disk, dir string, parts [2]string) {
			b := get(t, d, path.Join(dir, part1))
			b[len(b)/2] ^= 1
			put(t, d, path.Join(dir, part1), b)
		}, part1 + " cannot provide bytes", check.Lost, false},
		{"a part is missing", func(d *sessiontest.Disk, dir string, parts [2]string) { d.Remove(path.Join(dir, part1)) }, "the sealed part is missing: bytes 0-", check.Lost, false},
		{"a part is there twice", func(d *sessiontest.Disk, dir string, parts [2]string) {
			put(t, d, path.Join(dir, "messages.jsonl.7.zst"), get(t, d, path.Join(dir, part1)))
		}, "has no such part", check.Odd, true},
		{"the list lost its end", func(d *sessiontest.Disk, dir string, parts [2]string) {
			put(t, d, path.Join(dir, session.SegmentsFile), []byte("{"))
		}, "its parts do not fit together", check.Rebuildable, true},
		{"a bit of the list is wrong", func(d *sessiontest.Disk, dir string, parts [2]string) {
			b := string(get(t, d, path.Join(dir, session.SegmentsFile)))
			put(t, d, path.Join(dir, session.SegmentsFile), []byte(strings.Replace(b, `"records":`, `"records":1`, 1)))
		}, "it does not match its checksum", check.Rebuildable, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := sessiontest.New()
			dir, parts, want := archived(t, d)
			c.change(d, dir, parts)
			found := fsck(t, d, false)
			if c.want == "" && len(found) > 0 {
				t.Fatalf("found %+v", found)
			}
			hit := c.want == ""
			for _, f := range found {
				hit = hit || strings.Contains(f.What, c.want) && f.Severity == c.sev
			}
			if !hit {
				t.Errorf("found %+v", found)
			}
			fsck(t, d, true)
			if again := fsck(t, d, false); (len(again) == 0) != c.whole {
				t.Errorf("after a repair: %+v", again)
			}
			if c.whole {
				s, x := reopen(t, d)
				if content(t, x.Messages()) != want || plain(t, d, dir) != want {
					t.Error("the log is not what it was")
				}
				verified(t, s, refA)
			}
		})
	}
}

// A copy of a live store has the list from before a part was sealed, and the part and the tail from after it.
func TestAnOldListOfPartsLosesTheNewestPart(t *testing.T) {
	for _, c := range []struct {
		name   string
		parts  int    // that were sealed after the list was copied
		later  string // appended after that
		repair bool
	}{
		{"opened", 1, "", false},
		{"repaired", 1, "", true},
		{"opened, records came after it", 1, a1 + "\n", false},
		{"repaired, records came after it", 1, a1 + "\n", true},
		{"opened, as much came after it as was sealed", 1, talk(50<<10, 9), false},
		{"repaired, two parts were sealed", 2, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := sessiontest.New()
			dir, _, want := archived(t, d)
			inside := map[string][]byte{}
			for _, name := range []string{session.SegmentsFile, session.ArrivalsFile} {
				inside[name] = get(t, d, path.Join(dir, name))
			}
			s, x := reopen(t, d)
			for i := range c.parts {
				more := ""
				if i > 0 || c.parts == 1 {
					more = talk(20<<10, int64(5+i))
				}
				more += talk(20<<10, int64(7+i))
				for line := range strings.Lines(more) {
					appendTo(t, x.Messages(), line)
				}
				want += more
				if c.parts == 1 { // .ctxfs is copied with the records still raw
					inside[session.ArrivalsFile] = get(t, d, path.Join(dir, session.ArrivalsFile))
				}
				seal(t, x.Messages())
			}
			for line := range strings.Lines(c.later) {
				appendTo(t, x.Messages(), line)
			}
			want += c.later
			s.Close()
			for name, b := range inside {
				put(t, d, path.Join(dir, name), b)
			}
			parts := map[string][]byte{}
			for n := range 2 + c.parts {
				name := fmt.Sprintf("messages.jsonl.%d.zst", n+1)
				parts[name] = get(t, d, path.Join(dir, name))
			}
			if c.repair {
				fsck(t, d, true)
			}
			s, x = reopen(t, d)
			if got := content(t, x.Messages()); got != want {
				t.Errorf("the log has %d bytes, not the %d that it had", len(got), len(want))
			}
			for name, b := range parts {
				if !bytes.Equal(get(t, d, path.Join(dir, name)), b) {
					t.Errorf("%s is another one", name)
				}
			}
			s.Close()
			for _, f := range fsck(t, d, false) {
				t.Errorf("found afterwards: %+v", f)
			}
		})
	}
}

// change returns a file other bytes that are on the disk.
func change(t *testing.T, d *sessiontest.Disk, name string, data []byte) {
	t.Helper()
	f, err := d.OpenFile(name, os.O_WRONLY|os.O_TRUNC|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// Whenever the power goes while a part gets a new end, a part has its name: the damaged one or the new one.
func TestAPowerCutWhileAPartIsRepairedLosesItsName(t *testing.T) {
	damaged := func(t *testing.T) (d *sessiontest.Disk, dir, want string, whole []byte) {
		d = sessiontest.New()
		dir, _, want = archived(t, d)
		whole = get(t, d, path.Join(dir, part1))
		change(t, d, path.Join(dir, part1), whole[:len(whole)-100])
		d.SyncDir(dir)
		d.SyncDir(path.Join(dir, ctxabi.InternalDir))
		return d, dir, want, whole
	}
	d, dir, _, whole := damaged(t)
	d.Fail(sessiontest.Fault{At: 1 << 30})
	fsck(t, d, true)
	_, changes := d.Ops()
	if !bytes.Equal(get(t, d, path.Join(dir, part1)), whole) {
		t.Fatal("the part did not get its end again")
	}
	d.Heal()
	d.Crash(1)
	if !bytes.Equal(get(t, d, path.Join(dir, part1)), whole) {
		t.Error("the new end was not on the disk")
	}
	for at := 1; at <= changes+1; at += sparse(t) {
		for seed := range int64(8) {
			d, dir, want, whole := damaged(t)
			d.Fail(sessiontest.Fault{Kind: sessiontest.Stopped, At: at, Changes: true})
			check.Fsck(ctx, "/store", check.FsckOptions{Repair: true, Options: session.Options{VFS: d, Now: d.Now}}, func(check.Damage) {})
			_, where := d.Hit()
			d.Crash(int64(at)*1000 + seed)
			if _, err := d.Stat(path.Join(dir, part1)); err != nil {
				t.Fatalf("power cut before change %d (%s), seed %d: %v", at, where, seed, err)
			}
			fsck(t, d, true)
			s, x := reopen(t, d)
			if !bytes.Equal(get(t, d, path.Join(dir, part1)), whole) || content(t, x.Messages()) != want {
				t.Fatalf("power cut before change %d (%s), seed %d: the log is not what it was", at, where, seed)
			}
			s.Close()
		}
	}
}
