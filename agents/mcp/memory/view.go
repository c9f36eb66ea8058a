package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

const (
	maxLines   = 999_999 // the documentation's own
	maxEntries = 1000    // of a listing
)

// view shows a directory or a file.
func (d *Dir) view(c Command) (string, error) {
	name, err := inside(c.Path)
	if err != nil {
		return "", err
	}
	missing := refuse("The path %s does not exist. Please provide a valid path.", c.Path)
	r, err := d.root()
	if errors.Is(err, fs.ErrNotExist) {
		if name != "." {
			return "", missing
		}
		return listing(c.Path, []entry{{size: 0, path: c.Path}}), nil // nothing was remembered yet
	}
	if err != nil {
		return "", err
	}
	defer r.Close()
	fi, ok, err := stat(r, name)
	if err != nil {
		return "", d.inWords(c.Path, err)
	}
	if !ok {
		return "", missing
	}
	if fi.IsDir() {
		entries, _, err := walk(r, name, strings.TrimRight(c.Path, "/"), 0)
		if err != nil {
			return "", d.inWords(c.Path, err)
		}
		return listing(c.Path, entries), nil
	}
	text, err := load(r, name, c.Path, fi)
	if err != nil {
		return "", d.inWords(c.Path, err)
	}
	return numbered(c, text)
}

// load reads a file for a command.
func load(r *os.Root, name, p string, fi fs.FileInfo) (string, error) {
	if !fi.Mode().IsRegular() {
		return "", refuse("Error: The path %s is not an ordinary file", p)
	}
	if fi.Size() > maxRead {
		return "", refuse("Error: The file %s has %d bytes, too many to work on", p, fi.Size())
	}
	b, err := r.ReadFile(name)
	return string(b), err
}

// lines splits a text; a newline at its end begins no further line.
func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

func numbered(c Command, text string) (string, error) {
	all := lines(text)
	if len(all) > maxLines {
		return "", refuse("File %s exceeds maximum line limit of 999,999 lines.", c.Path)
	}
	from, to := 1, len(all)
	if c.ViewRange != nil {
		from = c.ViewRange[0]
		if c.ViewRange[1] != -1 {
			to = min(to, c.ViewRange[1])
		}
		if from < 1 || from > max(1, len(all)) || c.ViewRange[1] != -1 && c.ViewRange[1] < from {
			return "", refuse("Error: Invalid `view_range` parameter: [%d, %d]. Both should be within the range of lines of the file: [1, %d], the second one not before the first one; -1 is the end",
				c.ViewRange[0], c.ViewRange[1], len(all))
		}
	}
	var w strings.Builder
	fmt.Fprintf(&w, "Here's the content of %s with line numbers:", c.Path)
	for n := from; n <= to; n++ {
		line := numberedLine(n, all[n-1])
		if w.Len()+len(line) > MaxAnswer {
			if n == from { // one line that is too long for any answer
				fmt.Fprintf(&w, "\n%s", strings.ToValidUTF8(line[:MaxAnswer/2], ""))
				n++
			}
			fmt.Fprintf(&w, "\n(The answer is cut here, before line %d of %d; view_range [%d, %d] shows more.)", n, len(all), min(n, to), to)
			break
		}
		w.WriteString("\n" + line)
	}
	return strings.ToValidUTF8(w.String(), "�"), nil
}

func numberedLine(n int, line string) string { return fmt.Sprintf("%6d\t%s", n, line) }

// entry is a line of a listing.
type entry struct {
	size int64 // bytes; of a directory those of the files in it
	path string
}

func listing(p string, entries []entry) string {
	var w strings.Builder
	fmt.Fprintf(&w, "Here're the files and directories up to 2 levels deep in %s, excluding hidden items and node_modules:", p)
	for i, e := range entries {
		if i == maxEntries {
			fmt.Fprintf(&w, "\n(%d more; view a directory of them)", len(entries)-i)
			break
		}
		fmt.Fprintf(&w, "\n%s\t%s", size(e.size), e.path)
	}
	return w.String()
}

// maxDepth is how deep the sizes of directories are added up.
const maxDepth = 16

// walk lists a directory with what is in it, in name order, and adds its size up.
func walk(r *os.Root, name, shown string, depth int) (entries []entry, total int64, err error) {
	dir, err := r.Open(name)
	if err != nil {
		return nil, 0, err
	}
	found, err := dir.ReadDir(-1)
	dir.Close()
	if err != nil {
		return nil, 0, err
	}
	slices.SortFunc(found, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	var below []entry
	for _, f := range found {
		if hidden(f.Name()) {
			continue
		}
		at := entry{path: shown + "/" + f.Name()}
		var inside []entry
		if f.IsDir() && depth < maxDepth {
			if inside, at.size, err = walk(r, path.Join(name, f.Name()), at.path, depth+1); err != nil {
				return nil, 0, err
			}
			inside = inside[1:]
		} else if fi, err := f.Info(); err == nil && fi.Mode().IsRegular() { // gone meanwhile: 0
			at.size = fi.Size()
		}
		total += at.size
		if depth < 2 {
			below = append(append(below, at), inside...)
		}
	}
	return append([]entry{{total, shown}}, below...), total, nil
}

// size writes a number of bytes for people: 512B, 5.5K, 1.2M.
func size(n int64) string {
	v, units := float64(n), "BKMGT"
	for v >= 1024 && len(units) > 1 {
		v, units = v/1024, units[1:]
	}
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0") + units[:1]
}
