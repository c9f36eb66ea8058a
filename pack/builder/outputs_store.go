package builder

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/ctxfs/ctxfs/session"
)

// outputsDir holds the last good output of each computed source of a session: a
// line of JSON, then the data.
const outputsDir = "outputs"

const storedFormat = 1

// storedHead is the line before the data.
type storedHead struct {
	Format  int    `json:"format"`
	Session string `json:"session"` // its id: the file belongs to no other
	Name    string `json:"name"`
	Key     string `json:"key"`
	Entry   string `json:"entry"`
	Maker   string `json:"maker"`
	Ended   int64  `json:"ended"` // Unix nanoseconds
	Path    string `json:"path,omitempty"`
	Note    string `json:"note,omitempty"`
}

func storedName(name string) string {
	sum := sha256.Sum256([]byte(name))
	return outputsDir + "/" + hex.EncodeToString(sum[:16])
}

// keepStored keeps r with the session. A failure costs a run after a restart, no more:
// a store that is only read, a full disk and a session that was removed are none of the reader's business.
func keepStored(x *session.Session, name string, r *goodRun) {
	head, err := json.Marshal(storedHead{Format: storedFormat, Session: x.ID(), Name: name,
		Key: r.key, Entry: r.entry, Maker: r.maker, Ended: r.ended.UnixNano(), Path: r.path, Note: r.note})
	if err == nil {
		x.SetDerived(storedName(name), slices.Concat(head, []byte("\n"), r.data))
	}
}

// loadStored returns what was kept, or nil.
func loadStored(x *session.Session, name string) *goodRun {
	raw, err := x.Derived(storedName(name))
	if err != nil {
		return nil
	}
	head, data, ok := bytes.Cut(raw, []byte("\n"))
	var s storedHead
	if !ok || json.Unmarshal(head, &s) != nil || s.Format != storedFormat || s.Session != x.ID() || s.Name != name {
		return nil
	}
	sum := sha256.Sum256(data)
	return &goodRun{key: s.Key, entry: s.Entry, maker: s.Maker, ended: time.Unix(0, s.Ended), data: data,
		sha256: hex.EncodeToString(sum[:]), path: s.Path, note: s.Note}
}

// load reads what is stored of sources that nothing is remembered of. It returns with mu held.
func (o *outputs) load(x *session.Session, wants []want) {
	read := map[string]*goodRun{}
	for {
		o.mu.Lock()
		missing := ""
		found := true
		for i := range wants {
			name := wants[i].name
			if o.sessions[x.ID()][name] != nil {
				continue
			}
			r, ok := read[name]
			if !ok {
				missing, found = name, false
				break
			}
			o.remember(x.ID(), name, r)
		}
		if found {
			return
		}
		o.mu.Unlock()
		read[missing] = loadStored(x, missing)
	}
}
