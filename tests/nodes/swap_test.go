package nodestest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// long is a session of which much has left the prompt, one read of a pack after another.
func long(t *testing.T, m *harness.Mount) *harness.Session {
	s := m.NewSession(t)
	s.Write(ctxabi.BudgetFile, "4000\n")
	for i := 0; i < 60; i += 3 {
		talk(s, i, i+2)
		s.Read(ctxabi.PackFile)
	}
	return s
}

func ids(list []ctxabi.SwapRow) map[string]bool {
	m := map[string]bool{}
	for _, row := range list {
		m[fmt.Sprintf("%s %s %s:%s", row.ID, row.Kind, row.Source, row.Range)] = true
	}
	return m
}

func mustKeep(t *testing.T, what string, before, after map[string]bool) {
	t.Helper()
	for id := range before {
		if !after[id] {
			t.Errorf("%s: the row %s is gone", what, id)
		}
	}
}

func TestWhatLeftThePromptIsListed(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := long(t, m)
	list := swapTree(t, s)
	covered, outputs := map[int]int{}, map[string]bool{}
	last := 0
	for _, row := range list {
		span, err := ctxabi.ParseSpan(row.Range)
		if err != nil || row.Log != "messages" {
			t.Fatalf("%+v: %v", row, err)
		}
		if row.Kind == ctxabi.SwapOutput {
			outputs[row.Range] = true
			continue
		}
		for n := span.From; n <= span.To; n++ {
			covered[n]++
		}
		last = max(last, span.To)
	}
	for n := 1; n <= last; n++ {
		if covered[n] != 1 {
			t.Errorf("message %d stands in %d ranges", n, covered[n])
		}
		if n%4 == 3 && !outputs[fmt.Sprint(n)] {
			t.Errorf("the result in message %d has no row", n)
		}
	}
	if last < 200 {
		t.Errorf("only the first %d of 240 messages have left the prompt", last)
	}
}

func TestRowsOfSwapStay(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := long(t, m)
	first := ids(harness.Rows[ctxabi.SwapRow](t, s, swapIndex))

	s.Write(ctxabi.BudgetFile, "9000\n")
	s.Read(ctxabi.PackFile)
	second := ids(swapTree(t, s))
	mustKeep(t, "another budget", first, second)
	if len(second) == len(first) {
		t.Errorf("another budget folds elsewhere, but there are %d rows as before", len(second))
	}
	s.Write(ctxabi.BudgetFile, "0\n")
	s.Read(ctxabi.PackFile)
	mustKeep(t, "no budget", second, ids(harness.Rows[ctxabi.SwapRow](t, s, swapIndex)))

	m.Restart()
	mustKeep(t, "another daemon", second, ids(swapTree(t, s)))

	s.Write(ctxabi.BudgetFile, "4000\n")
	m.Stop()
	if err := os.RemoveAll(filepath.Join(s.InStore(), ".ctxfs", "swap")); err != nil {
		t.Fatal(err)
	}
	if err := m.TryStart(); err != nil {
		t.Fatal(err)
	}
	again := ids(swapTree(t, s))
	for id := range again {
		if !first[id] {
			t.Errorf("after the derived files were lost, %s is new", id)
		}
	}
	ranges := 0
	for id := range first {
		if strings.Contains(id, ctxabi.SwapRange) {
			ranges++
			if !again[id] {
				t.Errorf("after the derived files were lost, %s does not come back", id)
			}
		}
	}
	if ranges < 10 {
		t.Errorf("there are %d ranges", ranges)
	}
}

// Rows that nobody has read yet are no less kept: they were noted by the build.
func TestRowsAreNotedByThePack(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := long(t, m)
	twin := m.NewSession(t)
	twin.Write(ctxabi.BudgetFile, "4000\n")
	for i := 0; i < 60; i += 3 {
		talk(twin, i, i+2)
		twin.Read(ctxabi.PackFile)
	}
	want := ids(harness.Rows[ctxabi.SwapRow](t, twin, swapIndex))
	m.Restart()
	s.Write(ctxabi.BudgetFile, "0\n")
	mustKeep(t, "a daemon ago", want, ids(swapTree(t, s)))
}

func TestEventsLeaveThePrompt(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Write(ctxabi.BudgetFile, "3000\n")
	for i := range 40 {
		s.Append(ctxabi.MessagesFile, harness.Message("user", fmt.Sprintf("Run the tests of part %d.", i)))
		s.Append(ctxabi.EventsFile, harness.Record(map[string]any{"type": "tool_call", "id": fmt.Sprint("e", i),
			"name": "run_tests", "arguments": map[string]any{"part": i}})+
			harness.Record(map[string]any{"type": "note", "text": "between"})+
			harness.Record(map[string]any{"type": "tool_result", "id": fmt.Sprint("e", i), "content": source(i, 25)}))
		s.Append(ctxabi.MessagesFile, harness.Message("assistant", fmt.Sprintf("Part %d passes.", i)))
		s.Read(ctxabi.PackFile)
	}
	covered, outputs, ranges := map[string]int{}, 0, 0
	for _, row := range swapTree(t, s) {
		if row.Kind == ctxabi.SwapOutput {
			outputs++
			if row.Log != "events" || !strings.HasPrefix(row.Summary, "run_tests: ") {
				t.Errorf("%+v", row)
			}
			continue
		}
		ranges++
		span, _ := ctxabi.ParseSpan(row.Range)
		for n := span.From; n <= span.To; n++ {
			covered[fmt.Sprint(row.Log, n)]++
		}
	}
	for at, n := range covered {
		if n != 1 {
			t.Errorf("%s stands in %d ranges", at, n)
		}
	}
	if outputs < 20 || ranges < 6 || covered["events1"] != 1 || covered["messages1"] != 1 {
		t.Errorf("%d outputs, %d ranges, %v", outputs, ranges, covered)
	}
}

func TestTamperedHistoryIsNotServed(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := long(t, m)
	list := swapTree(t, s)
	blobs := dedupTree(t, s)
	m.Stop()
	log := filepath.Join(s.InStore(), ctxabi.MessagesFile)
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(b), "func step0_0(", "func stepX_X(", 1)
	if changed == string(b) || len(changed) != len(b) {
		t.Fatal("nothing to tamper with")
	}
	if err := os.WriteFile(log, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := m.TryStart(); err != nil {
		t.Fatal(err)
	}
	spoilt, reports := 0, 0
	for _, row := range list {
		span, _ := ctxabi.ParseSpan(row.Range)
		got, err := os.ReadFile(s.Path(ctxabi.SwapChunkDir + "/" + row.ID))
		if span.From <= 3 && 3 <= span.To {
			harness.WantErrno(t, "read of "+row.Range, err, unix.EIO)
			spoilt++
		} else if err == nil && harness.BlobID(string(got)) != row.ID {
			t.Errorf("%s gives other bytes", row.Range)
		}
	}
	for id, row := range blobs {
		if _, err := os.ReadFile(s.Path(ctxabi.DedupBlobDir + "/" + id)); row.Source == "messages:3" {
			harness.WantErrno(t, "read of a blob of "+row.Source, err, unix.EIO)
			spoilt++
		}
	}
	for _, row := range s.Errors() {
		if row.Errno == "EIO" && strings.Contains(row.Reason, "sha256-") {
			reports += max(1, row.Count)
		}
	}
	if spoilt < 3 || reports < spoilt {
		t.Errorf("%d nodes show the change, %d reports:\n%s", spoilt, reports, s.Read(ctxabi.ErrorsFile))
	}
}

func TestChunksAreReadOnly(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := long(t, m)
	list := harness.Rows[ctxabi.SwapRow](t, s, swapIndex)
	chunk := s.Path(ctxabi.SwapChunkDir + "/" + list[0].ID)
	for _, flags := range []int{unix.O_WRONLY, unix.O_RDWR, unix.O_WRONLY | unix.O_TRUNC} {
		for _, file := range []string{chunk, s.Path(swapIndex), s.Path(dedupIndex)} {
			_, err := unix.Open(file, flags, 0)
			harness.WantErrno(t, fmt.Sprintf("open of %s with %#x", file, flags), err, unix.EACCES)
		}
	}
	harness.WantErrno(t, "truncate", unix.Truncate(chunk, 0), unix.EACCES)
	harness.WantErrno(t, "chmod", unix.Chmod(chunk, 0o600), unix.EACCES)
	never := unix.EACCES // the directory's mode says it first
	if os.Getuid() == 0 {
		never = unix.EPERM // which root passes by
	}
	harness.WantErrno(t, "rm of a chunk", unix.Unlink(chunk), never)
	harness.WantErrno(t, "rm of the index", unix.Unlink(s.Path(swapIndex)), never)
	harness.WantErrno(t, "rmdir", unix.Rmdir(s.Path(ctxabi.SwapChunkDir)), never)
	harness.WantErrno(t, "mkdir", unix.Mkdir(s.Path(ctxabi.SwapDir+"/x"), 0o700), never)
	_, err := os.Create(s.Path(ctxabi.SwapChunkDir + "/" + harness.BlobID("x")))
	harness.WantErrno(t, "a new chunk", err, never)
	names := []string{harness.BlobID("nowhere"), "sha256-12", "x", ".x", strings.ToUpper(harness.BlobID("x"))}
	for _, name := range names {
		for _, dir := range []string{ctxabi.SwapChunkDir, ctxabi.DedupBlobDir} {
			_, err := os.Stat(s.Path(dir + "/" + name))
			harness.WantErrno(t, "stat of "+dir+"/"+name, err, unix.ENOENT)
		}
	}
	if s.Bash("sha256sum context/swap/chunk/* context/dedup/blob/* | while read sum file; do [ sha256-$sum = ${file##*/} ] || echo $file; done").OK() != "" {
		t.Error("sha256sum disagrees")
	}
}

func TestCopyOfASession(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := long(t, m)
	list := harness.Rows[ctxabi.SwapRow](t, s, swapIndex)
	to := harness.TempDir(t)
	s.Run("cp", "-a", s.Dir, to).OK()
	for _, row := range list {
		b, err := os.ReadFile(filepath.Join(to, s.Name, ctxabi.SwapChunkDir, row.ID))
		if err != nil || harness.BlobID(string(b)) != row.ID {
			t.Errorf("%s: %v", row.ID, err)
		}
	}
	for id := range dedupTree(t, s) {
		b, err := os.ReadFile(filepath.Join(to, s.Name, ctxabi.DedupBlobDir, id))
		if err != nil || harness.BlobID(string(b)) != id {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func TestALargeRangeIsServedInPieces(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Write(ctxabi.BudgetFile, "4000\n")
	for i := range 12 {
		s.Append(ctxabi.MessagesFile, harness.Message("user", fmt.Sprintf("Listing %d:\n", i)+source(i, 1<<15)))
	}
	s.Append(ctxabi.MessagesFile, harness.Message("user", "And now?"))
	largest := int64(0)
	for _, row := range swapTree(t, s) {
		largest = max(largest, row.Bytes)
		f, err := os.Open(s.Path(ctxabi.SwapChunkDir + "/" + row.ID))
		if err != nil {
			t.Fatal(err)
		}
		for _, off := range []int64{0, row.Bytes / 3, row.Bytes - 5, row.Bytes, row.Bytes + 9} {
			b := make([]byte, 64)
			n, _ := f.ReadAt(b, off)
			want := max(0, min(64, int(row.Bytes-off)))
			if n != want {
				t.Errorf("%d bytes at %d of %d", n, off, row.Bytes)
			}
		}
		f.Close()
	}
	if largest < 4<<20 {
		t.Errorf("the largest chunk has %d bytes", largest)
	}
}
