package pack

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/recall"
	"github.com/ctxfs/ctxfs/pack/record"
)

// wideLog is a long chat whose records are made when they are read, each of other words, and what was appended to it since.
type wideLog struct {
	n    int
	more *memLog
}

func (l *wideLog) Len() int { return l.n + l.more.Len() }

func (l *wideLog) At(line int) ctxabi.Entry {
	if line > l.n {
		e := l.more.At(line - l.n)
		if e.CallOf > 0 {
			e.CallOf += int32(l.n)
		}
		return e
	}
	e := ctxabi.Entry{Len: 300, Weight: 70, Role: ctxabi.Assistant}
	if line%2 == 1 {
		e.Role = ctxabi.User
	}
	return e
}

func (l *wideLog) Record(line int) ([]byte, error) {
	if line > l.n {
		return l.more.Record(line - l.n)
	}
	var b strings.Builder
	seed := uint64(line)
	for range 40 {
		seed = seed*6364136223846793005 + 1442695040888963407
		word := seed >> 33
		for range word % 4 { // few words are common
			word /= 37
		}
		fmt.Fprintf(&b, "w%x ", word%40_000)
	}
	return message([]string{"assistant", "user"}[line%2], b.String()), nil
}

// cpuTime is what this process took of processors so far.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// blockFile stores a block of an index of terms as a file.
type blockFile string

func blockFiles(dir string) recall.Store {
	return func(first, n int) recall.File {
		return blockFile(filepath.Join(dir, fmt.Sprint(first, ".", n)))
	}
}

func (f blockFile) Load() []byte {
	data, _ := os.ReadFile(string(f))
	return data
}

func (f blockFile) Open() (io.ReaderAt, io.Closer, int64, error) {
	file, err := os.Open(string(f))
	if err != nil {
		return nil, nil, 0, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, nil, 0, err
	}
	return file, file, info.Size(), nil
}

func (f blockFile) Keep(data []byte) error { return os.WriteFile(string(f), data, 0o600) }

func (f blockFile) Remove() { os.Remove(string(f)) }

func (f blockFile) Head(record.Records, int) (string, error) { return "", nil }

// BenchmarkQuestion is the pack of a question that is appended, with what the packs before it left, as CPU time.
func BenchmarkQuestion(b *testing.B) {
	for _, n := range benchLengths {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			log := &wideLog{n: n, more: newLog()}
			in := Input{Session: "s1", Budget: 32000, Messages: log}
			mm := NewMemo()
			files := blockFiles(b.TempDir())
			mm.Share(recall.NewTerms(files, 1))
			ask := func() {
				k := log.Len()*7919%n + 1
				raw, _ := log.Record(k)
				words := strings.Fields(ctxabi.DecodeMessage(raw).Text)
				log.more.Append(message("user", "What was it with "+strings.Join(words[3:9], " and ")+"?"))
				if _, err := CompileWith(&in, mm); err != nil {
					b.Fatal(err)
				}
				log.more.Append(message("assistant", "It was nothing."))
			}
			ask()
			var used time.Duration
			for b.Loop() {
				before := cpuTime()
				ask()
				used += cpuTime() - before
			}
			b.ReportMetric(float64(mm.Terms.Size())/float64(log.Len()), "memory-B/record")
			before := cpuTime()
			mm = NewMemo()
			mm.Share(recall.NewTerms(files, 1))
			ask()
			b.ReportMetric(float64((cpuTime()-before).Microseconds())/1000, "cpu-ms/restarted")
			b.ReportMetric(float64(used.Microseconds())/1000/float64(b.N), "cpu-ms/question")
		})
	}
}
