package adapter

import (
	"encoding/json"
	"strings"
)

// A program that writes a message anew when it has grown gives it no identity that a session could
// go by: its bytes change, and what it says comes again. The records of such a format have marks
// among their sources, one for each thing that is said, so that a later import finds what is new.

// Mark returns a source that stands for one thing that is said, named by words. It has no content.
func Mark(at int, words ...string) SourceRecord {
	return SourceRecord{"=" + SourceID([]byte(strings.Join(words, "\x00")), 0), at, json.RawMessage("{}")}
}

// Shared returns a source that is no record of the transcript, only a value that several of its
// records have and need not keep.
func Shared(at int, raw json.RawMessage) SourceRecord {
	return SourceRecord{"=" + SourceID(raw, 1), at, raw}
}

// IsMark reports whether an id is that of a [Mark] or of a [Shared] value.
func IsMark(id string) bool { return strings.HasPrefix(id, "=") }

// Own is a record of a transcript in its own form, as the session has it.
type Own struct {
	File, At int
	Raw      json.RawMessage
}

// OwnRecords returns the records of one chain's transcript that an import of the format kept, in the
// order of the session. It adds to lost those that are not whole, by the place of the session's record.
func OwnRecords(records []Record, format string, lost *Tally) (all []Own) {
	set := NewSourceSet(records, format)
	for n, r := range records {
		s, ok := r.Stamp()
		if !ok || s.Format != format || len(s.At) < len(s.IDs) {
			continue
		}
		if line, ok := r.KeptLine(); ok {
			all = append(all, Own{s.File, s.At[0], line})
			continue
		}
		if r.Event && r.EventType() == format+KeptLarge {
			lost.Add(RecordName(n), "what was too large for the session at import is missing")
			continue
		}
		if r.Event && r.EventType() == format+documentType {
			continue
		}
		for i, id := range s.IDs {
			if IsMark(id) {
				continue
			}
			raw, ok := set.Source(r.Chain, id)
			if !ok || !json.Valid(raw) {
				lost.Add(RecordName(n), "what was imported cannot be put together again: its records have changed")
				continue
			}
			all = append(all, Own{s.File, s.At[i], CompactJSON(raw)})
		}
	}
	return all
}
