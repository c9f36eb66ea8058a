package overview

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/mounts"
)

const (
	maxSummary  = 64 << 10 // bytes read from a version
	maxVersions = 50       // versions read from a session, newest first
)

// SummaryVersion is a delivered version of a session's summary.
type SummaryVersion struct {
	N         int // number of the version
	Upto      int // last message that the text covers
	Base      int // version in use at the time of delivery; 0 if there was none
	Writer    string
	When      time.Time
	InUse     bool
	Retracted bool
	Text      Head
	Path      string
}

// Summaries returns up to maxVersions versions of the summary of the session in dir, newest first,
// and the number of older versions. If context/summaries does not exist, the list is empty. It
// returns an error if the directory or a version cannot be read.
func Summaries(dir string) (list []SummaryVersion, older int, err error) {
	entries, err := os.ReadDir(filepath.Join(dir, ctxabi.SummariesDir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, 0, err
	}
	var numbers []int
	for _, e := range entries {
		if n, ok := ctxabi.ParseSummaryName(e.Name()); ok {
			numbers = append(numbers, n)
		}
	}
	slices.SortFunc(numbers, func(a, b int) int { return cmp.Compare(b, a) })
	if n := len(numbers) - maxVersions; n > 0 {
		numbers, older = numbers[:maxVersions], n
	}

	used := mounts.Attr(filepath.Join(dir, ctxabi.SummaryFile), "user.ctx.version")
	for _, n := range numbers {
		v, err := summaryVersion(filepath.Join(dir, ctxabi.SummaryPath(n)), n)
		if err != nil {
			return nil, 0, err
		}
		v.InUse = used == strconv.Itoa(n)
		list = append(list, v)
	}
	return list, older, nil
}

// summaryVersion reads version n of a summary from its file and the file's attributes.
func summaryVersion(path string, n int) (v SummaryVersion, err error) {
	number := func(name string) int {
		i, _ := strconv.Atoi(mounts.Attr(path, name))
		return i
	}
	v = SummaryVersion{N: n, Path: path, Upto: number("user.ctx.upto"), Base: number("user.ctx.base"),
		Writer: mounts.Attr(path, "user.ctx.writer"), Retracted: mounts.Attr(path, "user.ctx.retracted") != ""}
	fi, err := os.Stat(path)
	if err != nil {
		return v, err
	}
	v.When = fi.ModTime()
	v.Text, err = ReadHead(path, maxSummary)
	return v, err
}
