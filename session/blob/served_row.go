package blob

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
)

// Row is one row of context/packs.jsonl: a pack that was read after another one was.
type Row struct { // in the order of the keys, as the row is written; its checksum stands behind them
	At          time.Time `json:"at"` // UTC
	Compactions int       `json:"compactions"`
	Epoch       string    `json:"epoch"`
	EpochReason string    `json:"epoch_reason"`
	Events      int       `json:"events"`       // records of events.jsonl up to the last one that stands in it
	EventsBytes int64     `json:"events_bytes"` // length of events.jsonl when it was opened: what stands behind came later
	File        string    `json:"file"`         // the name that was opened first: "pack.md"
	KeptBytes   int       `json:"kept_bytes"`   // that its pack.md begins with as that of the row before did, up to a line end
	KeptTokens  int       `json:"kept_tokens"`  // of these bytes
	Messages    int       `json:"messages"`     // records that it covers
	PackID      string    `json:"pack_id"`
	PID         uint32    `json:"pid"` // who opened it
	PrefixBytes int       `json:"prefix_bytes"`
	Redact      string    `json:"redact,omitempty"` // what redacted it; "": it shows the history as it is stored
	Tokens      int       `json:"tokens"`           // of its pack.md
	UID         uint32    `json:"uid"`
}

// line is the row as packs.jsonl has it.
func (r *Row) line() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return nil, err
	}
	return append(vfs.Summed(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), '\n'), nil
}

// ParseRow reads a row with its newline; ok is false when it is torn or damaged.
func ParseRow(line []byte) (r Row, ok bool) {
	line, whole := bytes.CutSuffix(line, []byte("\n"))
	return r, whole && vfs.SumFits(line, &r) && ctxabi.ParseContentID(r.PackID) == nil
}

// maxHeld is how long a pack may be to be remembered until the next one comes.
const maxHeld = 1 << 20

// held is what is remembered of a pack's bytes; nil: they are read again.
func held(data []byte) []byte {
	if len(data) > maxHeld {
		return nil
	}
	return data
}
