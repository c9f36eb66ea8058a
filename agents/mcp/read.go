package mcp

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

// address is how files of a session name a record: messages:12, events:3.
var address = lazy.Regexp(`^(messages|events):([1-9][0-9]*)$`)

// where finds the directory that a path is below, and its name there. Paths are
// those that packs and searches cite: below the session, line/12 for short, the
// address of a record; below the mount where they begin with home/ or shared/.
func (x *session) where(p string) (base, name string, err error) {
	p = strings.TrimPrefix(p, uriPrefix)
	if m := address().FindStringSubmatch(p); m != nil {
		p = ctxabi.LineDir + "/" + map[string]string{"messages": "", "events": "e"}[m[1]] + m[2]
	}
	base = x.Dir
	switch {
	case filepath.IsAbs(p):
		for _, base := range []string{x.Dir, x.home, x.root} {
			if rel, err := filepath.Rel(base, p); base != "" && err == nil && filepath.IsLocal(rel) {
				return base, rel, nil
			}
		}
		return "", "", fmt.Errorf("%s is not in this session, %s", p, x.Dir)
	case strings.HasPrefix(p, "line/"):
		p = "context/" + p
	case x.root != "" && (strings.HasPrefix(p, "home/") || strings.HasPrefix(p, "shared/")):
		base = x.root
	case x.home != "" && strings.HasPrefix(p, "home/"): // what a search of the agent cites, where only its home is to be seen
		if parts := strings.SplitN(p, "/", 5); len(parts) == 5 && parts[2] == ctxabi.AgentDir {
			base, p = x.home, parts[4]
		}
	case x.home != "" && strings.HasPrefix(p, "../"): // the agent's home, as recipes and packs cite it
		base = cmp.Or(x.root, x.home)
		if p, err = filepath.Rel(base, filepath.Join(x.Dir, p)); err != nil {
			return "", "", err
		}
	}
	name = path.Clean(p)
	if !filepath.IsLocal(name) {
		return "", "", fmt.Errorf("%s leads out of the session", p)
	}
	return base, name, nil
}

// file is what was read: a piece of text, an image, or a listing.
type file struct {
	piece
	none  string // what to answer where the file is empty
	image string // media type; the bytes are in data
	data  []byte
}

// maxImage bounds an image that is handed to a model, in bytes.
const maxImage = 4 << 20

// read reads a file or lists a directory, at most limit bytes from offset on.
// offset -1 stands for the end: the last limit bytes, whole lines.
func (x *session) read(p string, offset int64, limit int) (f file, err error) {
	base, name, err := x.where(p)
	if err != nil {
		return f, err
	}
	since := time.Now()
	defer func() {
		if err != nil {
			err = x.said(p, name, since, err)
		}
	}()
	root, err := os.OpenRoot(base)
	if err != nil {
		return f, err
	}
	defer root.Close()
	fi, err := root.Stat(name) // not opened yet: a pipe would wait for its writer
	if err != nil {
		return f, err
	}
	f.Path = filepath.Join(base, name)
	if fi.IsDir() {
		f.Text, err = list(root, name, limit)
		f.Size = int64(len(f.Text))
		return f, err
	}
	if !fi.Mode().IsRegular() {
		return f, errors.New("it is neither a file nor a directory")
	}
	h, err := root.Open(name)
	if err != nil {
		return f, err
	}
	defer h.Close()
	if fi, err = h.Stat(); err != nil {
		return f, err
	}
	f.Size, f.Offset = fi.Size(), offset
	if f.Size == 0 {
		f.none = nothing(f.Path)
	}
	if offset < 0 {
		f.Offset = max(0, f.Size-int64(limit))
	}
	b := make([]byte, min(int64(limit)+1, max(0, f.Size-f.Offset)))
	n, err := h.ReadAt(b, f.Offset)
	if err != nil && err != io.EOF {
		return f, err
	}
	b = b[:n]
	if f.Offset == 0 {
		if kind := http.DetectContentType(b); strings.HasPrefix(kind, "image/") && f.Size <= maxImage {
			f.data, err = io.ReadAll(io.NewSectionReader(h, 0, maxImage))
			f.image = kind
			return f, err
		}
	}
	f.Text = string(b)
	if offset < 0 && f.Offset > 0 { // begin with a whole line
		if i := strings.IndexByte(f.Text, '\n'); i >= 0 {
			f.Text, f.Offset = f.Text[i+1:], f.Offset+int64(i+1)
		}
	}
	f.Text = cut(f.Text, limit)
	if !utf8.ValidString(f.Text) {
		return f, fmt.Errorf("it is not text, %d bytes; a program can open %s", f.Size, f.Path)
	}
	return f, nil
}

// nothing returns a sentence that the file at a path is empty: a model takes an empty answer for a failure.
func nothing(file string) string {
	holds := func(log string) bool {
		fi, err := os.Stat(filepath.Join(filepath.Dir(filepath.Dir(file)), log))
		return err == nil && fi.Size() > 0
	}
	dir, name := filepath.Base(filepath.Dir(file)), filepath.Base(file)
	switch {
	case name == ctxabi.MessagesFile || name == ctxabi.EventsFile:
		return "(" + name + " is empty: nothing is recorded yet.)\n"
	case name != path.Base(ctxabi.PackFile):
	case dir != ctxabi.ContextDir:
		return "(The prompt of that moment is empty: nothing was recorded yet, or the sources of its recipe had no content.)\n"
	case holds(ctxabi.MessagesFile) || holds(ctxabi.EventsFile):
		return "(The prompt is empty: the sources of its recipe have no content.)\n"
	default:
		return "(The prompt is empty: nothing is recorded yet.)\n"
	}
	return "(" + name + " is empty.)\n"
}

// said returns the error that a path cannot be read, with the reason.
func (x *session) said(p, name string, since time.Time, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(name, ctxabi.LineDir+"/"):
		return fmt.Errorf("there is no record %s; messages are numbered from 1, events are e1 and so on", path.Base(name))
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist in %s", p, x.Dir)
	}
	var at *fs.PathError
	if errors.As(err, &at) && strings.Contains(at.Err.Error(), "escapes") { // os.Root has no sentinel for it
		return fmt.Errorf("%s leads out of the session", p)
	}
	return fmt.Errorf("%s: %w", p, x.reason(name, since, err))
}

// list names what is in a directory, with sizes.
func list(root *os.Root, name string, limit int) (string, error) {
	d, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	if err != nil {
		return "", err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	var w strings.Builder
	for i, e := range entries {
		line := e.Name() + "/"
		if !e.IsDir() {
			line = e.Name()
			if fi, err := e.Info(); err == nil {
				line += "\t" + strconv.FormatInt(fi.Size(), 10)
			}
		}
		if w.Len()+len(line) > limit-100 {
			fmt.Fprintf(&w, "(and %d more)\n", len(entries)-i)
			break
		}
		w.WriteString(line + "\n")
	}
	if w.Len() == 0 {
		return "(it lists no names; read a name such as line/12)\n", nil
	}
	return w.String(), nil
}

// result is a file as an answer of the tool read.
func (f file) result(p string) *sdk.CallToolResult {
	if f.image != "" {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.ImageContent{Data: f.data, MIMEType: f.image}}}
	}
	if f.none != "" {
		return text(f.none)
	}
	return f.piece.result(p)
}
