package adapter

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Format is one kind of transcript.
type Format struct {
	Name  string // as --format takes it: "claude-code"
	Title string // for people: "Claude Code session (JSONL)"

	// Verbatim: the records are those of a session themselves, with whatever
	// stamps they have. See Arrange.
	Verbatim bool

	// Notes lists event types, without the format name, that an import must not report as unread:
	// they do not belong to the conversation or repeat a message. It also lists paths of such texts
	// in a transcript record (".args.query"); a path includes everything below it. An import
	// reports every other text that no message contains as a loss.
	Notes []string

	// IsNote reports whether a transcript record that became an event is such a note. It is nil in
	// formats that recognize notes by the event type.
	IsNote func(source gjson.Result) bool

	// Sniff returns how sure it is, from 0 to 100, that a transcript is of this
	// format. It gets the name of the file, "" for standard input, and at
	// least the first 64 KiB or all of it, cut anywhere. 100: no other format
	// has such a mark. 50 and less: it could be, and nothing speaks against it.
	Sniff func(name string, head []byte) int

	// Import reads one transcript. It gives an error only when reading or out fails.
	Import func(in *Input, out Output) error

	// Export writes the records of a session as one transcript; nil when the
	// format is only read. It writes nothing but the transcript.
	Export func(src *Source, w io.Writer) error

	// Context returns what the model of one transcript has before it when the
	// conversation is taken up again: the texts behind its last compaction, the
	// oldest first, without side chains and what a rewind left. It returns an
	// error only when reading fails; nil for formats of programs without hooks. It
	// reads the file from its end, no further than to that compaction.
	Context func(file File) ([]Told, error)
}

// Input is one transcript to be read.
type Input struct {
	R    io.Reader
	Name string // of the file, for reports; "" for standard input

	// Seen reports whether the session has the source record of that identity
	// in chain already. A format asks before it makes a record of one.
	Seen func(chain, id string) bool

	// Said receives each transcript record that the session, or the session of From, already has as
	// a message. New records may repeat its texts. Said may be nil; see [Input.HasSaid].
	Said func(source []byte)

	// Beside are files that the program keeps beside the transcript, by their names.
	Beside map[string]*Beside

	// Chain is the chain of all records if the format's transcripts do not name one.
	Chain string

	// From is the parent transcript if this one may begin with a copy of its history; nil if there
	// is none.
	From *From
}

// HasSaid passes a record that the session already has as a message to Said.
func (in *Input) HasSaid(source []byte) {
	if in.Said != nil {
		in.Said(source)
	}
}

// From is a parent transcript: another transcript may begin with a copy of it.
type From struct {
	R     io.Reader
	Lines int // how many lines of the other one come before its first own message, set by the format; 0: it has no copy
}

// Beside is a file beside a transcript.
type Beside struct {
	Read  func() ([]byte, error) // an error in words is a [Loss]
	Named bool                   // a record named it
}

// Output is where the records of a transcript go, in the order of the transcript.
type Output interface {
	Record(Record) error
	Loss(Loss)
}

// Record is one record of a session.
type Record struct {
	// Chain is "" for the session itself. Another name is that of a child of
	// it; the first record of a chain makes the child session.
	Chain string
	Event bool   // of events.jsonl, else of messages.jsonl
	Line  []byte // the record, one line without its newline, that ctxabi accepts
	Where string // of the source in the transcript, for a Loss; "": its place counts records

	Compacted *Compacted // range of a compaction summary; nil for all other records

	stamp *readStamp // see stamped; nil as long as nobody asked
}

// Loss is something of a transcript that could not be carried.
type Loss struct {
	Where string // "line 12", "message 3", "record 5 of messages.jsonl"
	What  string // "not JSON, kept as an event", "the format has no place for thinking"
}

// Source is a session to be written as a transcript.
type Source struct {
	Name    string   // of the session
	Records []Record // see Format.Arrange
	Loss    func(Loss)
}

// SourceID is the identity of a source record that has no id of its own: of
// its bytes, and of how many equal ones stood before it in its transcript.
func SourceID(raw []byte, nth int) string {
	h := sha256.New()
	h.Write([]byte(strconv.Itoa(nth)))
	h.Write([]byte{0})
	h.Write(raw)
	return hex.EncodeToString(h.Sum(nil)[:6])
}

// Counter makes the [SourceID] of each record of a transcript; it counts the equal ones.
type Counter map[[16]byte]int

// ID is the identity of the next record of these bytes.
func (c Counter) ID(raw []byte) string {
	sum := sha256.Sum256(raw)
	key := [16]byte(sum[:])
	c[key]++
	return SourceID(raw, c[key]-1)
}

// InOrder puts the records of a session, each log in its own order, into the
// order of the transcript they came from. A record that came from none stands
// behind the one before it in its log.
func InOrder(chains ...[]Record) []Record {
	type placed struct {
		Record
		file, at int
	}
	var all []placed
	for _, chain := range chains {
		file, at := 0, -1
		for _, r := range chain {
			r = r.stamped()
			if s, ok := r.Stamp(); ok && len(s.At) > 0 {
				file, at = s.File, s.At[0]
			}
			all = append(all, placed{r, file, at})
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.at, b.at))
	})
	records := make([]Record, len(all))
	for i, p := range all {
		records[i] = p.Record
	}
	return records
}

// Arrange returns the records of a session's logs, each in its own order, as the
// format exports them.
func (f *Format) Arrange(logs ...[]Record) []Record {
	if f.Verbatim {
		return slices.Concat(logs...)
	}
	refit := make([][]Record, len(logs))
	for i, log := range logs {
		for _, r := range log {
			refit[i] = append(refit[i], r.Refit())
		}
	}
	return InOrder(refit...)
}

// Check returns the error with which ctxabi would refuse the record, nil if it would not.
func (r Record) Check() error {
	check := ctxabi.CheckMessage
	if r.Event {
		check = ctxabi.CheckEvent
	}
	if err := check(r.Line); err != nil {
		return fmt.Errorf("a record of %s: %w", r.Chain, err)
	}
	return nil
}
