package history

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// line is one thing that was noted. A history on the disk has one such line of JSON for each.
type line struct {
	List     string   `json:"list,omitempty"`
	Register string   `json:"register,omitempty"`
	Write    *Write   `json:"write,omitempty"`
	Look     *Look    `json:"look,omitempty"`
	Sight    *Sight   `json:"sight,omitempty"`
	Final    bool     `json:"final,omitempty"`
	Host     string   `json:"host,omitempty"`
	Keys     []string `json:"keys,omitempty"`
	ID       string   `json:"id,omitempty"`
}

// Create returns an empty history that is also kept in a file, which is made. It returns the error of the file.
func Create(name string) (*History, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	h := New()
	h.file = f
	return h, nil
}

// Close ends the file of a history. It returns an error if anything of it was not written.
func (h *History) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.file == nil {
		return nil
	}
	if err := h.file.Close(); h.broken == nil {
		h.broken = err
	}
	h.file = nil
	return h.broken
}

// Load returns the history in a file. It returns the error of the file, and one for a line that is not of a
// history; the last line may be half there.
func Load(name string) (*History, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := New()
	for r, n := bufio.NewReader(f), 1; ; n++ {
		b, err := r.ReadBytes('\n')
		if err == io.EOF {
			return h, nil
		}
		var x line
		if err == nil {
			err = json.Unmarshal(b, &x)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d of %s: %w", n, name, err)
		}
		h.note(x)
	}
}

// note adds what was seen, to the file as well.
func (h *History) note(x line) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.file != nil {
		b, err := json.Marshal(x)
		if err == nil {
			_, err = h.file.Write(append(b, '\n'))
		}
		if h.broken == nil {
			h.broken = err
		}
	}
	switch {
	case x.List != "" && x.Write != nil:
		h.list(x.List).writes = append(h.list(x.List).writes, *x.Write)
	case x.List != "" && x.Look != nil:
		h.list(x.List).looks = append(h.list(x.List).looks, *x.Look)
	case x.List != "" && x.Final:
		h.list(x.List).finals[x.Host] = x.Keys
	case x.Register != "" && x.Write != nil:
		h.register(x.Register).writes = append(h.register(x.Register).writes, *x.Write)
	case x.Register != "" && x.Sight != nil:
		h.register(x.Register).sights = append(h.register(x.Register).sights, *x.Sight)
	case x.Register != "" && x.Final:
		h.register(x.Register).finals[x.Host] = x.ID
	}
}
