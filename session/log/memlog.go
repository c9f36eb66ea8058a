package log

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// MemLog is a log in memory, with its index: records that never were in a store, indexed as those in one
// are. It knows nothing of the other log, so Entry.Events and Entry.Tokens are 0. The zero
// value is an empty log of messages. It is not safe for concurrent use.
type MemLog struct {
	events  bool
	records [][]byte
	entries []ctxabi.Entry
	heads   []string // behind each record
	calls   callWindow
}

// NewMemLog is an empty log of the name ctxabi.MessagesFile or ctxabi.EventsFile.
func NewMemLog(name string) *MemLog { return &MemLog{events: name == ctxabi.EventsFile} }

// Append adds one record, without its newline. It keeps raw.
func (l *MemLog) Append(raw []byte) {
	scan := scanMessage
	if l.events {
		scan = scanEvent
	}
	s := scan(raw)
	e := ctxabi.Entry{Len: int32(len(raw)), Weight: int32(s.weight), Role: s.role, Flags: s.flags}
	head, n := l.Head(), len(l.records)
	if n > 0 {
		e.Offset = l.entries[n-1].Offset + int64(l.entries[n-1].Len) + 1
	}
	l.calls.begin()
	if s.answers != "" {
		e.CallOf = l.calls.find(n+1, s.answers)
	}
	l.calls.add(n+1, s.calls)
	sum := sha256.Sum256(slices.Concat([]byte(head), raw))
	l.records, l.entries, l.heads = append(l.records, raw), append(l.entries, e), append(l.heads, hex.EncodeToString(sum[:]))
}

// Len is the number of records.
func (l *MemLog) Len() int { return len(l.records) }

// At is the entry of a record, by its line from 1.
func (l *MemLog) At(line int) ctxabi.Entry { return l.entries[line-1] }

// Record returns the record at a line. It is the log's own and must not be changed. The error is
// always nil.
func (l *MemLog) Record(line int) ([]byte, error) { return l.records[line-1], nil }

// Head stands for all records together, as Log.HeadAt does for those of a store; "" for none.
func (l *MemLog) Head() string {
	if len(l.heads) == 0 {
		return ""
	}
	return l.heads[len(l.heads)-1]
}

// Prefix is the log as it was with its first n records. Nothing may be appended to it.
func (l *MemLog) Prefix(n int) *MemLog {
	return &MemLog{events: l.events, records: l.records[:n:n], entries: l.entries[:n:n], heads: l.heads[:n:n]}
}
