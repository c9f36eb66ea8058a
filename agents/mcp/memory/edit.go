package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

func create(r *os.Root, name string, c Command) (string, error) {
	if _, err := r.Lstat(name); err == nil { // a link that leads nowhere is there, too
		return "", refuse("Error: File %s already exists", c.Path)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := r.MkdirAll(path.Dir(name), 0o777); err != nil {
		return "", err
	}
	return "File created successfully at: " + c.Path, put(r, name, *c.FileText, 0o666)
}

// edit reads a file, changes its text and writes it.
func edit(r *os.Root, name, p, missing string, change func(text string) (string, error)) error {
	fi, ok, err := stat(r, name)
	if err != nil {
		return err
	}
	if !ok || fi.IsDir() {
		return refuse("%s", missing)
	}
	text, err := load(r, name, p, fi)
	if err != nil {
		return err
	}
	if text, err = change(text); err != nil {
		return err
	}
	return put(r, name, text, fi.Mode().Perm())
}

// around is how many lines before and behind a change are shown.
const around = 2

func replace(r *os.Root, name string, c Command) (answer string, err error) {
	missing := fmt.Sprintf("Error: The path %s does not exist. Please provide a valid path.", c.Path)
	err = edit(r, name, c.Path, missing, func(text string) (string, error) {
		old, with := *c.OldStr, ""
		if c.NewStr != nil {
			with = *c.NewStr
		}
		if old == "" {
			return "", refuse("No replacement was performed, old_str must not be empty; use the insert command to add text to %s.", c.Path)
		}
		switch strings.Count(text, old) {
		case 0:
			return "", refuse("No replacement was performed, old_str `%s` did not appear verbatim in %s.", old, c.Path)
		case 1:
		default:
			return "", refuse("No replacement was performed. Multiple occurrences of old_str `%s` in lines: %s. Please ensure it is unique", old, linesOf(text, old))
		}
		at := strings.Index(text, old)
		text = text[:at] + with + text[at+len(old):]
		first := strings.Count(text[:at], "\n") + 1
		answer = "The memory file has been edited. Here is the snippet showing the change (with line numbers):" +
			snippet(text, first-around, first+strings.Count(with, "\n")+around)
		return text, nil
	})
	return answer, err
}

// linesOf names the lines where a string begins, each once.
func linesOf(text, s string) string {
	var numbers []string
	last, line := 0, 1
	for at := 0; ; {
		i := strings.Index(text[at:], s)
		if i < 0 {
			return strings.Join(numbers, ", ")
		}
		line += strings.Count(text[at:at+i], "\n")
		if line != last {
			numbers = append(numbers, fmt.Sprint(line))
		}
		last = line
		line += strings.Count(s, "\n")
		at += i + len(s)
	}
}

// snippet shows some lines of a text, those of them that there are.
func snippet(text string, from, to int) string {
	var w strings.Builder
	all := lines(text)
	for n := max(1, from); n <= min(to, len(all)) && w.Len() < MaxAnswer; n++ {
		w.WriteString("\n" + numberedLine(n, all[n-1]))
	}
	return strings.ToValidUTF8(w.String(), "�")
}

func insert(r *os.Root, name string, c Command) (string, error) {
	err := edit(r, name, c.Path, fmt.Sprintf("Error: The path %s does not exist", c.Path), func(text string) (string, error) {
		n := len(lines(text))
		if *c.InsertLine < 0 || *c.InsertLine > n {
			return "", refuse("Error: Invalid `insert_line` parameter: %d. It should be within the range of lines of the file: [0, %d]", *c.InsertLine, n)
		}
		at := 0
		for range *c.InsertLine {
			if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
				at += i + 1
			} else { // behind a last line without its newline
				text += "\n"
				at = len(text)
			}
		}
		more := *c.InsertText
		if !strings.HasSuffix(more, "\n") {
			more += "\n"
		}
		return text[:at] + more + text[at:], nil
	})
	return fmt.Sprintf("The file %s has been edited.", c.Path), err
}

func remove(r *os.Root, name string, c Command) (string, error) {
	if name == "." {
		return "", refuse("Error: Cannot delete the %s directory itself", Top)
	}
	if _, err := r.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return "", refuse("Error: The path %s does not exist", c.Path)
	}
	return "Successfully deleted " + c.Path, r.RemoveAll(name) // of a link: the link
}

func rename(r *os.Root, name string, c Command) (string, error) {
	to, err := inside(c.NewPath)
	if err != nil {
		return "", err
	}
	if name == "." || to == "." {
		return "", refuse("Error: Cannot rename the %s directory itself", Top)
	}
	if _, err := r.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return "", refuse("Error: The path %s does not exist", c.OldPath)
	}
	if _, err := r.Lstat(to); err == nil {
		return "", refuse("Error: The destination %s already exists", c.NewPath)
	}
	if strings.HasPrefix(to, name+"/") {
		return "", refuse("Error: The destination %s lies in %s itself", c.NewPath, c.OldPath)
	}
	if err := r.MkdirAll(path.Dir(to), 0o777); err != nil {
		return "", err
	}
	return fmt.Sprintf("Successfully renamed %s to %s", c.OldPath, c.NewPath), r.Rename(name, to)
}

// put writes a file whole: readers see the old content or the new one.
func put(r *os.Root, name, text string, mode fs.FileMode) (err error) {
	if len(text) > MaxFile {
		return refuse("Error: The file would have %d bytes, the limit is %d; split it into several files", len(text), MaxFile)
	}
	temp := path.Join(path.Dir(name), ".memory-"+path.Base(name)+".tmp")
	if len(path.Base(temp)) > 255 {
		temp = path.Join(path.Dir(name), ".memory.tmp") // only one command changes something at a time
	}
	r.Remove(temp) // of a command that was killed
	f, err := r.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if end := f.Close(); err == nil {
		err = end
	}
	if err == nil {
		err = r.Rename(temp, name)
	}
	if err != nil {
		r.Remove(temp)
	}
	return err
}
