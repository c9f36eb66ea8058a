package log

import (
	"hash/fnv"
	"io"
	"sync"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// scan is what the index needs of a record, without its text.
type scan struct {
	off, length int64
	crc         uint32
	role        ctxabi.Role
	flags       ctxabi.EntryFlags
	weight      int
	calls       []string // ids of the calls it makes
	answers     string   // id of the call it answers: tool_call_id, or that of the first tool_result part
	id          uint64   // of a tool event: hashID of its call
}

// outliners are kept from one record to the next, for their memory.
var outliners = sync.Pool{New: func() any { return new(ctxabi.Outliner) }}

// scanMessage reads a record of messages.jsonl. One that does not pass the
// check has a weight nevertheless: it is carried as text.
func scanMessage(line []byte) scan {
	outliner := outliners.Get().(*ctxabi.Outliner)
	o := outliner.Message(line)
	outliners.Put(outliner)
	s := scan{role: o.Role, weight: o.Weight, calls: o.Calls, answers: o.Answers}
	if o.Role == ctxabi.RoleUnknown {
		s.flags |= ctxabi.Damaged
	}
	if len(o.Calls) > 0 {
		s.flags |= ctxabi.HasCalls
	}
	if o.HasResults {
		s.flags |= ctxabi.HasResults
	}
	if o.Images > 0 {
		s.flags |= ctxabi.HasImages
	}
	return s
}

func scanEvent(line []byte) (s scan) {
	s.role = ctxabi.Event
	e, ok := ctxabi.DecodeToolEvent(line)
	switch {
	case !ok:
		s.weight = ctxabi.Weight(line)
		if ctxabi.CheckEvent(line) != nil {
			s.role, s.flags = ctxabi.RoleUnknown, ctxabi.Damaged
		}
		return s
	case e.IsResult:
		s.flags, s.answers = ctxabi.HasResults, e.CallID
	default:
		s.flags, s.calls = ctxabi.HasCalls, []string{e.CallID}
	}
	s.weight, s.id = e.Weight(), hashID(e.CallID)
	if e.Images > 0 {
		s.flags |= ctxabi.HasImages
	}
	return s
}

// scanner is how a record of x's log is read.
func (x *logIndex) scanner() func(line []byte) scan {
	if x.log.name == ctxabi.MessagesFile {
		return scanMessage
	}
	return scanEvent
}

// hashID returns 64 bits that stand for the id of a call; 0 for none.
func hashID(id string) uint64 {
	if id == "" {
		return 0
	}
	h := fnv.New64a()
	io.WriteString(h, id)
	return max(h.Sum64(), 1)
}
