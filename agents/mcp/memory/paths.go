package memory

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
)

// Top is the path that stands for the directory.
const Top = "/memories"

// encodings is how often a path is decoded to see what hides in it.
const encodings = 3

// inside returns the name below the directory of a path of the tool; "." is the
// directory itself. The name is the path as it was written: nothing in it is
// decoded for use, only looked at.
func inside(p string) (name string, err error) {
	if p != Top && !strings.HasPrefix(p, Top+"/") {
		return "", refuse("Error: The path %s must start with %s", p, Top)
	}
	decoded := p
	for range encodings {
		if strings.ContainsRune(decoded, 0) || slices.Contains(strings.FieldsFunc(decoded, func(r rune) bool { return r == '/' || r == '\\' }), "..") {
			return "", refuse("Error: The path %s leads out of %s", strings.ReplaceAll(p, "\x00", "�"), Top)
		}
		next, err := url.PathUnescape(decoded)
		if err != nil || next == decoded {
			break
		}
		decoded = next
	}
	return path.Clean("." + strings.TrimPrefix(p, Top)), nil
}

// hidden reports whether a listing passes over a name.
func hidden(name string) bool { return strings.HasPrefix(name, ".") || name == "node_modules" }

// stat looks a name up through links that stay inside; ok is false where there is nothing.
func stat(r *os.Root, name string) (fi fs.FileInfo, ok bool, err error) {
	fi, err = r.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return fi, err == nil, err
}
