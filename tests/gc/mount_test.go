package gctest

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/gc"
	"github.com/ctxfs/ctxfs/tests/harness"
)

const blobs = ctxabi.DedupBlobDir

// byHand is a mount that collects only when it is asked to, and then at once.
func byHand(t *testing.T) *harness.Mount {
	t.Helper()
	return harness.Start(t, harness.Options{Args: []string{"--gc-interval=0", "--gc-grace=0"}})
}

func store(t *testing.T, s *harness.Session, content string) (id string) {
	t.Helper()
	id = harness.BlobID(content)
	s.Write(blobs+"/"+id, content)
	return id
}

// ask sets user.ctx.gc and reads the report.
func ask(t *testing.T, s *harness.Session, what string) *gc.Report {
	t.Helper()
	if err := unix.Setxattr(s.Dir, ctxabi.CollectAttr, []byte(what), 0); err != nil {
		t.Fatalf("user.ctx.gc = %s: %v; errors.jsonl: %v", what, err, s.Errors())
	}
	return report(t, s)
}

func report(t *testing.T, s *harness.Session) *gc.Report {
	t.Helper()
	r, err := gc.ParseReport([]byte(s.Read(ctxabi.GCReportFile)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// reason finds why an item of a group went or stays; "" when it is not there.
func reason(g gc.Group, path string) string {
	for _, row := range g.Rows {
		if row.Path == path {
			return row.Reason
		}
	}
	return ""
}

func exists(s *harness.Session, name string) bool {
	_, err := os.Stat(s.Path(name))
	return err == nil
}

func TestTheReportIsDerived(t *testing.T) {
	m := byHand(t)
	s := m.NewSession(t)
	if text := s.Read(ctxabi.GCReportFile); !strings.Contains(text, "policy pack_ttl=1d swap_ttl=30d dedup_min_refs=1 keep_messages=1") || strings.Contains(text, "run ") {
		t.Errorf("before anything was looked at: %q", text)
	}
	if err := os.WriteFile(s.Path(ctxabi.GCReportFile), nil, 0o600); !errors.Is(err, unix.EACCES) && os.Getuid() != 0 {
		t.Errorf("writing it: %v", err)
	}
	if err := os.Remove(s.Path(ctxabi.GCReportFile)); !errors.Is(err, unix.EACCES) {
		t.Errorf("removing it: %v", err)
	}
	if err := unix.Setxattr(s.Dir, ctxabi.CollectAttr, []byte("everything"), 0); err != unix.EINVAL {
		t.Errorf("another value: %v", err)
	}
	var b [64]byte
	if n, err := unix.Getxattr(s.Path(ctxabi.GCReportFile), "user.ctx.origin", b[:]); err != nil || string(b[:n]) != ctxabi.OriginDerived {
		t.Errorf("user.ctx.origin: %q, %v", b[:max(n, 0)], err)
	}
	r := ask(t, s, gc.RunPlan)
	if reason(r.Kept, ctxabi.MessagesFile) != "keep_messages=1" || reason(r.Kept, ctxabi.EventsFile) != "keep_events=1" || reason(r.Kept, ".") != "delete_after=0" {
		t.Errorf("what stays: %+v", r.Kept)
	}
	m.Restart()
	if again := report(t, s); again.At != r.At {
		t.Errorf("another daemon says %+v, the one before %+v", again, r)
	}
}

// A file of 8 TB takes hours to be read, and directories in each other take a descriptor each: neither is gone through, and
// what it may name stays.
func TestHugeFilesAndDeepDirectoriesHoldNothingUp(t *testing.T) {
	m := byHand(t)
	for what, script := range map[string]string{
		"huge": "truncate -s 8T huge",
		"deep": "python3 -c 'import os\nfor i in range(300): os.mkdir(\"deep\"); os.chdir(\"deep\")'",
	} {
		s := m.NewSession(t)
		id := blobs + "/" + store(t, s, "litter")
		s.Write(ctxabi.PolicyFile, "swap_ttl=1ns\n")
		s.Bash("mkdir context/child/c && cd context/child/c/artifact && " + script).OK()
		harness.Eventually(t, "what is "+what+" to name the blob", func() bool { // once the handle of who stored it is released
			return strings.HasPrefix(reason(ask(t, s, gc.RunSweep).Kept, id), "named by context/child/c/artifact/"+what)
		})
		s.Python(`import os
os.chdir("context/child/c/artifact")
if os.path.exists("huge"): os.remove("huge")
else:
    n = 0
    while os.path.exists("deep"): os.chdir("deep"); n += 1
    for i in range(n): os.chdir(".."); os.rmdir("deep")`).OK()
		ask(t, s, gc.RunSweep)
		if exists(s, id) {
			t.Errorf("what was %s is gone, and the blob is not", what)
		}
	}
}

// What is open stays, and reads to its end; so does what a record or a file names.
func TestWhatProtectsABlob(t *testing.T) {
	m := byHand(t)
	s := m.NewSession(t)
	opened, recorded, pinned, litter := store(t, s, "opened"), store(t, s, "recorded"), store(t, s, "pinned"), store(t, s, "litter")
	s.Append(ctxabi.MessagesFile, harness.Message("user", "it is in dedup/blob/"+recorded))
	s.Write("context/pinned/p.md", "read "+pinned)
	s.Write(ctxabi.PolicyFile, "swap_ttl=1ns\n")
	f, err := os.Open(s.Path(blobs + "/" + opened))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var plan *gc.Report
	harness.Eventually(t, "the handles of who stored them to be released", func() bool {
		plan = ask(t, s, gc.RunPlan)
		named := func(id string) bool { return strings.HasPrefix(reason(plan.Kept, blobs+"/"+id), "named by ") }
		return reason(plan.Kept, blobs+"/"+opened) == "open in one handle" && named(recorded) && named(pinned) && reason(plan.Waiting, blobs+"/"+litter) != ""
	})
	r := ask(t, s, gc.RunSweep)
	for _, c := range []struct{ id, why string }{{opened, "open in one handle"}, {recorded, "named by messages:1"}, {pinned, "named by context/pinned/p.md"}} {
		if why := reason(r.Kept, blobs+"/"+c.id); why != c.why || !exists(s, blobs+"/"+c.id) {
			t.Errorf("%s: %q, want %q", c.id, why, c.why)
		}
	}
	if reason(r.Removed, blobs+"/"+litter) == "" || exists(s, blobs+"/"+litter) {
		t.Errorf("what nobody names: planned %+v, swept %+v", plan.Waiting, r.Removed)
	}
	s.Write("context/pinned/p.md", "nothing")
	f.Close()
	harness.Eventually(t, "what was open to go", func() bool {
		ask(t, s, gc.RunSweep)
		return !exists(s, blobs+"/"+opened)
	})
	if exists(s, blobs+"/"+pinned) || !exists(s, blobs+"/"+recorded) {
		t.Error("what a pin named is still there, or what a record names is not")
	}
	if status, err := os.ReadFile(filepath.Join(m.Dir, "status")); err != nil || !strings.Contains(string(status), "gc_removed=") || strings.Contains(string(status), "gc_removed=0\n") {
		t.Errorf("status: %s", status)
	}
}

// A pack that somebody reads is read to its end, and is gone for who comes later.
func TestPacksExpireUnderAReader(t *testing.T) {
	s := byHand(t).NewSession(t)
	var first string
	for i := range 3 {
		s.Append(ctxabi.MessagesFile, harness.Message("user", "message "+strconv.Itoa(i)))
		text := s.Read(ctxabi.PackFile)
		if i == 0 {
			first = text
		}
	}
	var oldest struct {
		ID string `json:"pack_id"`
	}
	if err := json.NewDecoder(strings.NewReader(s.Read(ctxabi.PacksFile))).Decode(&oldest); err != nil {
		t.Fatal(err)
	}
	name := oldest.ID + ".md"
	f, err := os.Open(s.Path(ctxabi.ServedDir + "/" + name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s.Write(ctxabi.PolicyFile, "pack_ttl=1ns\n")
	if r := ask(t, s, gc.RunSweep); len(strings.Split(s.Read(ctxabi.PacksFile), "\n")) != 4 {
		t.Errorf("the oldest pack is open, and rows went: %+v", r.Removed)
	}
	b, err := io.ReadAll(f)
	if err != nil || string(b) != first {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	f.Close()
	harness.Eventually(t, "the packs to go", func() bool {
		ask(t, s, gc.RunSweep)
		return s.Read(ctxabi.PacksFile) == ""
	})
	if _, err := os.ReadFile(s.Path(ctxabi.ServedDir + "/" + name)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a pack that expired: %v", err)
	}
	s.Read(ctxabi.PackFile)
	if rows := s.Read(ctxabi.PacksFile); strings.Count(rows, "\n") != 1 {
		t.Errorf("read again after its row went: %q", rows)
	}
}

// A policy takes effect as soon as it is written, long before the next round.
func TestAPolicyTakesEffectWhenItIsWritten(t *testing.T) {
	m := harness.Start(t, harness.Options{Args: []string{"--gc-interval=1h", "--gc-grace=0"}})
	s := m.NewSession(t)
	id := store(t, s, "litter")
	s.Write(ctxabi.PolicyFile, "swap_ttl=1ns\n")
	harness.Eventually(t, "the blob to go", func() bool {
		entries, err := os.ReadDir(s.Path(blobs)) // a look at the blob itself would be a use of it
		return err == nil && len(entries) == 0
	})
	harness.Eventually(t, "the report to say so", func() bool { // which is written when all has gone that goes
		return strings.Contains(reason(report(t, s).Removed, blobs+"/"+id), "nothing names it")
	})
}

// The loop finds by itself what became old, without anybody asking, after its grace.
func TestTheLoopCollects(t *testing.T) {
	m := harness.Start(t, harness.Options{Args: []string{"--gc-interval=20ms", "--gc-grace=50ms"}})
	s := m.NewSession(t)
	s.Write(ctxabi.PolicyFile, "swap_ttl=200ms\n")
	store(t, s, "litter")
	harness.Eventually(t, "the blob to go", func() bool {
		entries, err := os.ReadDir(s.Path(blobs))
		return err == nil && len(entries) == 0
	})
}

// It takes three words of the owner to let history go, and even then not what somebody uses.
func TestASessionIsRemovedByPolicyAlone(t *testing.T) {
	m := byHand(t)
	s, parent := m.NewSession(t), m.NewSession(t)
	s.Append(ctxabi.MessagesFile, harness.Message("assistant", "the answer"))
	s.Write(ctxabi.PolicyFile, "delete_after=1ns\nkeep_messages=0\n")
	if r := ask(t, s, gc.RunSweep); reason(r.Kept, ".") != "keep_events=1" {
		t.Errorf("with one of two: %+v", r.Kept)
	}
	s.Write(ctxabi.PolicyFile, "delete_after=1h\nkeep_messages=0\nkeep_events=0\n")
	if r := ask(t, s, gc.RunSweep); !strings.HasSuffix(reason(r.Kept, "."), "delete_after=1h") {
		t.Errorf("too young: %+v", r.Kept)
	}
	s.Write(ctxabi.PolicyFile, "delete_after=1ns\nkeep_messages=0\nkeep_events=0\n")
	f, err := os.Open(s.Path("context"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.ReadDir(1); err != nil {
		t.Fatal(err)
	}
	if r := ask(t, s, gc.RunSweep); !strings.HasPrefix(reason(r.Kept, "."), "open in ") {
		t.Errorf("while a directory of it is open: %+v", r.Kept)
	}
	f.Close()
	if err := os.Mkdir(parent.Path("context/child/helper"), 0o700); err != nil {
		t.Fatal(err)
	}
	parent.Write("context/child/helper/agent", s.Agent+"\n")
	parent.Write("context/child/helper/session", s.Name+"\n")
	var why string
	harness.Eventually(t, "the handle to be released", func() bool {
		why = reason(ask(t, s, gc.RunSweep).Kept, ".")
		return !strings.HasPrefix(why, "open in ")
	})
	if why != "a child of "+parent.Agent+"/"+parent.Name {
		t.Errorf("a child that somebody links to: %q", why)
	}
	if text := parent.Read("context/child/helper/result.md"); text != "the answer\n" {
		t.Errorf("its result is %q", text)
	}
	if err := os.Remove(parent.Path("context/child/helper/session")); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "the session to go", func() bool {
		err := unix.Setxattr(s.Dir, ctxabi.CollectAttr, []byte(gc.RunSweep), 0)
		return errors.Is(err, unix.ENOENT) || !exists(s, "messages.jsonl")
	})
	if _, err := os.Stat(s.InStore()); !errors.Is(err, os.ErrNotExist) && os.Getuid() == 0 {
		t.Errorf("in the store: %v", err)
	}
	if !exists(parent, "messages.jsonl") {
		t.Error("the parent went along")
	}
}

func TestArchiveByPolicy(t *testing.T) {
	m := byHand(t)
	s := m.NewSession(t)
	text := strings.Repeat(harness.Message("user", strings.Repeat("a long story ", 100)), 100)
	s.Append(ctxabi.MessagesFile, text)
	s.Write(ctxabi.PolicyFile, "keep_messages=0\narchive_after=1ns\n")
	if r := ask(t, s, gc.RunSweep); !strings.Contains(reason(r.Removed, ctxabi.MessagesFile), "archive_after=1ns") || r.Removed.Bytes < int64(len(text))/2 {
		t.Errorf("%+v", r.Removed)
	}
	if s.Read(ctxabi.MessagesFile) != text {
		t.Error("the archived log reads otherwise")
	}
	if r := ask(t, s, gc.RunSweep); reason(r.Kept, ctxabi.MessagesFile) != "all of it is archived" {
		t.Errorf("what is archived: %+v", r.Kept)
	}
	s.Append(ctxabi.MessagesFile, harness.Message("user", "more"))
	if got := s.Read(ctxabi.MessagesFile); got != text+harness.Message("user", "more") {
		t.Error("what came later is not behind it")
	}
}

// Readers and writers in other processes, one daemon with all ages at nothing.
func TestCollectUnderFireInAMount(t *testing.T) {
	m := harness.Start(t, harness.Options{Args: []string{"--gc-interval=5ms", "--gc-grace=0"}})
	s := m.NewSession(t)
	s.Write(ctxabi.PolicyFile, atOnce)
	const turn = 20 * time.Second // of a client, well below harness.Patience; then comes another one
	script := `
end=$(( $(date +%s) + ` + strconv.Itoa(int(min(underFire(t), turn)/time.Second)) + ` ))
fail() { echo "$@" >&2; exit 1; }
id() { echo sha256-$(printf '%s' "$1" | sha256sum | cut -d' ' -f1); }
i=$FROM
while [ $i = $FROM ] || [ $(date +%s) -lt $end ]; do i=$((i+1))
`
	// With all ages at zero each look makes anew what the last sweep took, from the whole history: in a long run that grows slowly.
	pace := ""
	if underFire(t) > turn {
		pace = "\nsleep 0.2"
	}
	workers := map[string]string{
		"writer": `printf '{"role":"user","content":"step %d of %s"}\n' $i "$(printf 'words %.0s' {1..400})" >> messages.jsonl || fail append` + pace,
		"namer": `b=$(id "report $i"); echo '{"role":"user","content":"see context/dedup/blob/'$b'"}' >> messages.jsonl || fail append
[ -e context/dedup/blob/$b ] || printf '%s' "report $i" > context/dedup/blob/$b || fail store
cat context/dedup/blob/$b > /dev/null || fail "what a record names is gone"; echo $b >> $LIST` + pace,
		"reader": `exec 3< context/pack.md || fail open; a=$(head -c 100 <&3 | wc -c); cat <&3 > /dev/null || fail read; exec 3<&-
for f in $(ls context/served | head -n 3); do cat context/served/$f > /dev/null 2> $ERR || grep -q 'No such file' $ERR || fail "$(cat $ERR)"; done
cat context/swap/index.jsonl context/dedup/index.jsonl context/todo.md context/facts.jsonl > /dev/null || fail index`,
		"searcher": `cat 'context/search/step words' > /dev/null || fail search; cat context/gc.report > /dev/null || fail report`,
		"holder": `b=$(id "litter $i"); printf '%s' "litter $i" > context/dedup/blob/$b || fail store
if exec 4< context/dedup/blob/$b; then sleep 0.05; [ "$(cat <&4)" = "litter $i" ] || fail "an open blob reads otherwise"; exec 4<&-; fi 2> /dev/null`,
	}
	tmp := harness.TempDir(t)
	list := filepath.Join(tmp, "named")
	results := make(chan struct{ name, said string }, len(workers))
	for name, work := range workers {
		go func() {
			said := ""
			for done, from := time.Duration(0), 0; done < underFire(t) && said == ""; done, from = done+turn, from+1_000_000 {
				r := m.Run(t, harness.Client{UID: harness.Self(), Dir: s.Dir, Argv: []string{"bash", "-c", script + work + "\ndone\n"},
					Env: []string{"LIST=" + list, "ERR=" + filepath.Join(tmp, name), "FROM=" + strconv.Itoa(from)}})
				if r.Code != 0 || strings.Contains(r.Stderr, "rror") {
					said = r.Stdout + r.Stderr
				}
			}
			results <- struct{ name, said string }{name, said}
		}()
	}
	for range workers {
		if r := <-results; r.said != "" {
			t.Errorf("the %s: %s", r.name, r.said)
		}
	}
	named, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	ids := strings.Fields(string(named))
	for _, id := range ids {
		if got := harness.BlobID(s.Read(blobs + "/" + id)); got != id {
			t.Errorf("%s reads as %s", id, got)
		}
	}
	harness.Lines(t, s.Read(ctxabi.MessagesFile))
	status, err := os.ReadFile(filepath.Join(m.Dir, "status"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "gc_removed=") {
			t.Logf("%d blobs are named; %s", len(ids), strings.TrimSpace(line))
			if line == "gc_removed=0\n" {
				t.Error("nothing went")
			}
		}
	}
	m.Stop()
	r := m.Run(t, harness.Client{UID: harness.Self(), Dir: "/", Argv: []string{harness.Binary(t), "fsck", "--store", m.Store}})
	if r.Code != 0 {
		t.Errorf("fsck: %s%s", r.Stdout, r.Stderr)
	}
}

// A dry run says how many bytes gc removes, also when the session goes whole, and its own report
// does not change that.
func TestDryRunCountsLikeRun(t *testing.T) {
	m := byHand(t)
	s := m.NewSession(t)
	s.Append(ctxabi.MessagesFile, harness.Message("user", "hi"))
	s.Read("context/pack.md")
	s.Write(ctxabi.PolicyFile, "delete_after=1ns\nkeep_messages=0\nkeep_events=0\n")
	bytes := func(args ...string) (n int64) {
		var reports []gc.Report
		printed := m.CLI(t, append(args, "--json", s.Dir)...).OK()
		if err := json.Unmarshal([]byte(printed), &reports); err != nil || len(reports) != 1 {
			t.Fatalf("%v: %v", reports, err)
		}
		return reports[0].Waiting.Bytes + reports[0].Removed.Bytes
	}
	first, second := bytes("gc", "--dry-run"), bytes("gc", "--dry-run")
	if removed := bytes("gc"); first != removed || second != removed {
		t.Errorf("the dry runs count %d and %d bytes, the run %d", first, second, removed)
	}
}
