package transcript

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/agents/adapter/formats"
	"github.com/ctxfs/ctxfs/internal/usage"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/internal/inputs"
)

// Transcript is one that is to be imported.
type Transcript struct {
	Name   string // as the user called it, "" for standard input
	r      *bufio.Reader
	bytes  int64 // how large it is, -1: nobody knows
	close  func() error
	format *adapter.Format
	How    string // how it is known
	forced bool   // the user said it
	beside map[string]*adapter.Beside
	agent  subagent
	unread []string // files that belong to it and are of no known format
	thread thread
}

// Transcripts are those of one import, in their order.
type Transcripts []*Transcript

func (ts Transcripts) Close() {
	for _, t := range ts {
		t.close()
	}
}

func (ts Transcripts) Size() (sum int64) {
	for _, t := range ts {
		if t.bytes < 0 {
			return -1
		}
		sum += t.bytes
	}
	return sum
}

func (ts Transcripts) Names() string {
	var names []string
	for _, t := range ts {
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}

// HeadSize is how many bytes of a transcript are looked at to know its format.
const HeadSize = 64 << 10

// Detect determines the format of each transcript. If forced is not nil, it is the format of all of
// them, and Detect returns an error for a file that is clearly of another format or not text: a
// session keeps imported records forever.
func (ts Transcripts) Detect(forced *adapter.Format) error {
	for _, t := range ts {
		if t.format != nil {
			t.How = t.format.Name
			continue
		}
		head, err := t.r.Peek(HeadSize)
		if err != nil && err != io.EOF {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
		name, from := t.Name, t.Name
		if t.Name == stdinName {
			name, from = "", "-"
		}
		if bytes.HasPrefix(head, []byte("SQLite format 3\x00")) {
			return fmt.Errorf("%s is a database; of opencode import what it exports: opencode export SESSION | ctxfs import - SESSION, or ctxfs import --all", t.Name)
		}
		if unpack := packed(head); unpack != "" {
			return fmt.Errorf("%s is compressed; import its content: %s %s | ctxfs import - SESSION", t.Name, unpack, from)
		}
		f, ok := formats.Detect(name, head)
		if forced != nil {
			if t.format, t.How, t.forced = forced, forced.Name, true; ok && surely(f, name, head) && forced.Sniff(name, adapter.Decode(head)) == 0 {
				return fmt.Errorf("%s is a transcript of %s, not of %s; omit --format, or use --format %s", t.Name, f.Name, forced.Name, f.Name)
			}
			continue
		}
		if !ok && len(head) == 0 {
			return fmt.Errorf("%w: %s is empty", ErrNothing, t.Name)
		}
		if is := formats.Unreadable(head); !ok && is != "" {
			return fmt.Errorf("%s is %s", t.Name, is)
		}
		if !ok {
			return fmt.Errorf("the format of %s is not known; name it with --format.\n%s", t.Name, formats.Help())
		}
		t.format, t.How = f, f.Name+" (detected; --format overrides)"
	}
	return nil
}

// surely reports whether a transcript has a mark of a format such that who calls it another one has mistaken the file.
func surely(f *adapter.Format, name string, head []byte) bool {
	return f.Sniff(name, adapter.Decode(head)) >= 95
}

// packed returns the command that unpacks what begins like this, "" for what is not packed.
func packed(head []byte) string {
	for _, p := range []struct {
		at             int
		magic, command string
	}{
		{0, "\x1f\x8b", "zcat"},
		{0, "\x28\xb5\x2f\xfd", "zstdcat"},
		{0, "\xfd7zXZ\x00", "xzcat"},
		{0, "BZh", "bzcat"},
		{0, "PK\x03\x04", "unzip -p"},
		{257, "ustar", "tar -xOf"},
	} {
		if len(head) > p.at && bytes.HasPrefix(head[p.at:], []byte(p.magic)) {
			return p.command
		}
	}
	return ""
}

const stdinName = "standard input"

// Find opens the files, in order.
// It returns a [usage.Error] where the caller has to choose, and the error of a file that cannot be opened; none is open then.
func Find(files []string, stdin io.Reader) (all Transcripts, err error) {
	defer func() {
		if err != nil {
			all.Close()
			all = nil
		}
	}()
	for i := 0; i < len(files); i++ {
		file := files[i]
		if file == "-" {
			if slices.Contains(files[:i], "-") {
				return all, usage.Errorf("- is standard input, which can be read only once")
			}
			all = append(all, &Transcript{Name: stdinName, r: bufio.NewReaderSize(stdin, HeadSize), bytes: -1, close: func() error { return nil }})
			continue
		}
		parts, err := filesOf(file)
		if err != nil {
			return all, err
		}
		for i+1 < len(files) && oneConversation(file, files[i+1]) {
			i++
			parts[0].files = append(parts[0].files, files[i])
		}
		if n := len(parts[0].files); n > 1 {
			parts[0].name = filepath.Dir(parts[0].files[0])
		}
		for _, p := range parts {
			t, err := p.open()
			if err != nil {
				return all, err
			}
			all = append(all, t)
		}
	}
	return all, nil
}

// source is one transcript, in one file or several.
type source struct {
	name   string
	files  []string
	beside map[string]*adapter.Beside
	agent  subagent
	unread []string
	format *adapter.Format // nil: to be detected
	thread thread
}

// filesOf returns what a FILE means: a transcript and what belongs to it.
func filesOf(file string) ([]source, error) {
	fi, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !fi.IsDir() {
		return sessionOf(file), nil
	}
	for _, dir := range []string{filepath.Join(file, "events"), file} {
		if events := numbered(dir); len(events) > 0 {
			return []source{{name: file, files: events}}, nil
		}
	}
	found := transcriptsIn(file)
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("there is no transcript in the directory %s", file)
	case 1:
		return filesOf(found[0])
	}
	shown := found[:min(len(found), 5)]
	more := ""
	if n := len(found) - len(shown); n > 0 {
		more = fmt.Sprintf("\n  ... and %d more", n)
	}
	return nil, usage.Errorf("%s has %d transcripts; name those that belong to the session. The newest are\n  %s%s",
		file, len(found), strings.Join(shown, "\n  "), more)
}

// numbered are the events of OpenHands in a directory, a file each, in order.
func numbered(dir string) (files []string) {
	names, _ := filepath.Glob(filepath.Join(quoteGlob(dir), "*.json"))
	type event struct {
		n    int
		name string
	}
	var events []event
	for _, name := range names {
		if n, ok := eventNumber(name); ok {
			events = append(events, event{n, name})
		}
	}
	slices.SortFunc(events, func(a, b event) int { return cmp.Or(cmp.Compare(a.n, b.n), strings.Compare(a.name, b.name)) })
	for _, e := range events {
		files = append(files, e.name)
	}
	return files
}

// eventNumber is that of event-00012-5f1c.json, or of 12.json.
func eventNumber(name string) (n int, ok bool) {
	base := strings.TrimSuffix(filepath.Base(name), ".json")
	rest, prefixed := strings.CutPrefix(base, "event-")
	if digits, _, more := strings.Cut(rest, "-"); more && prefixed {
		rest = digits
	}
	n, err := strconv.Atoi(rest)
	return n, err == nil && n >= 0 && filepath.Ext(name) == ".json"
}

// oneConversation reports whether two files are events of one: event-*.json of one directory.
func oneConversation(a, b string) bool {
	event := func(name string) bool {
		_, ok := eventNumber(name)
		return ok && strings.HasPrefix(filepath.Base(name), "event-")
	}
	return event(a) && event(b) && filepath.Dir(a) == filepath.Dir(b)
}

// transcriptsIn lists what may be a transcript, the newest first.
func transcriptsIn(dir string) (files []string) {
	times := map[string]int64{}
	for _, ending := range []string{"*.jsonl", "*.traj", "*.json"} {
		names, _ := filepath.Glob(filepath.Join(quoteGlob(dir), ending))
		for _, n := range names {
			if fi, err := os.Stat(n); err == nil && fi.Mode().IsRegular() {
				times[n] = fi.ModTime().UnixNano()
				files = append(files, n)
			}
		}
	}
	slices.SortStableFunc(files, func(a, b string) int { return cmp.Compare(times[b], times[a]) })
	return files
}

// open opens a transcript; the files of one that has several follow one another, a line between them.
func (s source) open() (*Transcript, error) {
	t := &Transcript{Name: s.name, beside: s.beside, agent: s.agent, unread: s.unread, format: s.format, thread: s.thread}
	var readers []io.Reader
	var opened []*os.File
	t.close = func() (err error) {
		for _, f := range opened {
			err = cmp.Or(err, f.Close())
		}
		return err
	}
	for i, name := range s.files {
		if i > 0 {
			readers = append(readers, strings.NewReader("\n"))
		}
		fi, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		if t.bytes >= 0 && fi.Mode().IsRegular() {
			t.bytes += fi.Size()
		} else {
			t.bytes = -1
		}
		if len(s.files) > 1 {
			readers = append(readers, &eventFile{name: name})
			continue
		}
		f, err := inputs.OpenFile(name)
		if err != nil {
			return nil, err
		}
		opened = append(opened, f)
		readers = append(readers, f)
	}
	t.r = bufio.NewReaderSize(io.MultiReader(readers...), HeadSize)
	return t, nil
}

// eventFile is a file of which each is one of many: it is read at once, when
// its turn comes, and put on one line.
type eventFile struct {
	name string
	r    io.Reader
}

func (e *eventFile) Read(p []byte) (n int, err error) {
	if e.r == nil {
		b, err := inputs.ReadFile(e.name)
		if err != nil {
			return 0, err
		}
		var line bytes.Buffer
		if json.Compact(&line, b) != nil {
			line = *bytes.NewBuffer(b)
		}
		e.r = &line
	}
	return e.r.Read(p)
}
