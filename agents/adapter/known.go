package adapter

import "strconv"

// Known is the set of source records that a session and its children have. The zero value is empty.
type Known struct {
	ids     map[string]knownID // by chain and id
	lines   map[string]Counter // by chain and log: what stands there, whatever it came from
	last    []int              // of each transcript the last place where a record begins: one that is made of several may end behind the next
	reading int32              // how many transcripts were begun
	hit     int32              // the transcript of the last record that was asked for and is there, counted from 1
	file    int                // the number of the transcript being read; -1: not decided
	count   map[string]int32   // by chain: number of messages
}

// knownID locates a source record. message is the number of the message that contains it, or 0 if
// an event contains it.
type knownID struct{ reading, file, message int32 }

// Begin starts the next transcript: all records that were added before count as present.
func (k *Known) Begin() {
	k.reading++
	k.hit, k.file = 0, -1
}

// Seen reports whether a record was present before the transcript that is being read. [Input] calls it.
func (k *Known) Seen(chain, id string) bool {
	known, ok := k.ids[chain+"\x00"+id]
	ok = ok && known.reading < k.reading
	if ok {
		k.hit = known.file + 1
	}
	return ok
}

// Had notes a record that was there before the transcript that is being read.
func (k *Known) Had(r Record) { k.add(r, k.reading-1) }

// Add notes a record of the transcript that is being read.
func (k *Known) Add(r Record) { k.add(r, k.reading) }

func (k *Known) add(r Record, reading int32) {
	if k.ids == nil {
		k.ids, k.lines, k.count = map[string]knownID{}, map[string]Counter{}, map[string]int32{}
	}
	message := int32(0)
	if !r.Event {
		k.count[r.Chain]++
		message = k.count[r.Chain]
	}
	log := r.Chain + "\x00" + strconv.FormatBool(r.Event)
	if k.lines[log] == nil {
		k.lines[log] = Counter{}
	}
	k.ids[r.Chain+"\x00"+OwnID(r.Event, k.lines[log].ID(r.Line))] = knownID{reading: reading}
	s, ok := r.Stamp()
	if !ok || s.File < 0 || s.File > 1<<20 {
		return
	}
	for _, id := range s.IDs {
		k.ids[r.Chain+"\x00"+id] = knownID{reading, int32(s.File), message}
	}
	for len(k.last) <= s.File {
		k.last = append(k.last, -1)
	}
	if len(s.At) > 0 {
		k.last[s.File] = max(k.last[s.File], s.At[0])
	}
}

// OwnID returns the identity of a record in a log of a session.
func OwnID(event bool, id string) string {
	if event {
		return "event:" + id
	}
	return "message:" + id
}

// upto returns the number of the last message in a chain that a compaction summary with the range c
// replaces. The summary follows all known records. If c lists no replaced message, the range
// extends to the last known one. It ends before the first kept message, and may be empty (0).
func (k *Known) upto(chain string, c *Compacted) int32 {
	upto := int32(0)
	for _, id := range c.Replaced {
		upto = max(upto, k.ids[chain+"\x00"+id].message)
	}
	if upto == 0 {
		upto = k.count[chain]
	}
	for _, id := range c.Kept {
		if n := k.ids[chain+"\x00"+id].message; n > 0 {
			upto = min(upto, n-1)
		}
	}
	return upto
}

// Place adds the number of its transcript to the stamp of a new record, so that [InOrder] keeps
// positions in different transcripts apart. A record at or after the last known position of a
// transcript belongs to that transcript. Place also sets the field "upto" of a compaction summary.
func (k *Known) Place(r Record) Record {
	if r.Compacted != nil {
		o, _ := ParseObject(r.Line)
		r.Line = Raw(o.With("upto", k.upto(r.Chain, r.Compacted)))
	}
	r = r.stamped()
	s, ok := r.Stamp()
	if !ok || len(s.At) == 0 {
		return r
	}
	if k.file < 0 {
		k.file = len(k.last)
		if before := int(k.hit) - 1; before >= 0 && before < len(k.last) && s.At[0] >= k.last[before] {
			k.file = before
		}
	}
	if k.file == s.File {
		return r
	}
	o, _ := ParseObject(r.Line)
	return Record{Chain: r.Chain, Event: r.Event, Line: Raw(o.With(StampKey, o.Object(StampKey).With("file", k.file)))}
}
