package session

import (
	"encoding/json"
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
)

const (
	// AskedFile is derived content of a session: [Asked] in JSON.
	AskedFile = "asked"
	// KnownAgents is a directory of derived content of an owner. It has an empty file for each
	// agent that answers requests for a summary.
	KnownAgents = "asked"
)

// Asked lists the requests for a summary that the agent has seen.
type Asked struct {
	Read  bool           `json:"read,omitempty"` // context/summary.request was read
	Shown []ShownRequest `json:"shown,omitempty"`
}

// ShownRequest identifies a request by two numbers of messages: how many the session had when the
// request opened, and the last one that the summary covers.
type ShownRequest struct {
	Opened int `json:"opened"`
	Upto   int `json:"upto"`
}

// maxShown is how many shown requests a session remembers.
const maxShown = 16

// Asked returns the content of [AskedFile]. It returns the zero value if that cannot be read.
func (x *Session) Asked() Asked {
	x.askedMu.Lock()
	defer x.askedMu.Unlock()
	return *x.loadAsked()
}

// NoteAsked adds a shown request, unless shown is nil, and with read that the agent has read
// context/summary.request. It returns the error of the disk; Asked returns the additions until the
// process ends even then.
func (x *Session) NoteAsked(shown *ShownRequest, read bool) error {
	x.askedMu.Lock()
	defer x.askedMu.Unlock()
	was := x.loadAsked()
	isNew := shown != nil && !slices.Contains(was.Shown, *shown)
	if !isNew && (was.Read || !read) {
		return nil
	}

	now := Asked{Read: was.Read || read, Shown: was.Shown}
	if isNew {
		now.Shown = append(slices.Clone(was.Shown), *shown)
		now.Shown = now.Shown[max(0, len(now.Shown)-maxShown):]
	}
	x.asked = &now
	data, err := json.Marshal(now)
	if err != nil {
		return err
	}
	return x.SetDerived(AskedFile, data)
}

// loadAsked returns the content, which is not changed. x.askedMu is held.
func (x *Session) loadAsked() *Asked {
	if x.asked == nil {
		a := &Asked{}
		if data, err := x.Derived(AskedFile); err == nil && json.Unmarshal(data, a) != nil {
			*a = Asked{}
		}
		x.asked = a
	}
	return x.asked
}

// askedUpto returns the highest Upto of the shown requests, but at most messages; 0 if there is
// none. A summary without a range covers the history up to there.
func (x *Session) askedUpto(messages int) (upto int) {
	for _, r := range x.Asked().Shown {
		if r.Upto <= messages {
			upto = max(upto, r.Upto)
		}
	}
	return upto
}

// AnswersRequests reports whether NoteAnswers was called for the agent of ref.
func (s *Store) AnswersRequests(ref ctxabi.Ref) bool {
	_, err := s.Owned(ref).Derived(KnownAgents + "/" + ref.Agent)
	return err == nil
}

// NoteAnswers records that the agent of ref answers requests for a summary. It returns the error of
// the disk.
func (s *Store) NoteAnswers(ref ctxabi.Ref) error {
	return s.Owned(ref).SetDerived(KnownAgents+"/"+ref.Agent, nil)
}
