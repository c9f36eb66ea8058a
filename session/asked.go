package session

import (
	"encoding/json"
	"errors"
	"io/fs"
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// AskedFile is derived content that says which requests for a summary were shown to the agent, and
// whether it has read context/summary.request. Of an owner, KnownAgents has a file for each agent
// that did, or that delivered a summary.
const (
	AskedFile   = "asked"
	KnownAgents = "asked"
)

// Asked is that content.
type Asked struct {
	Read  bool           `json:"read,omitempty"` // context/summary.request was read
	Shown []ShownRequest `json:"shown,omitempty"`
}

// ShownRequest is a request for a summary that was shown: how many messages the session had when it
// opened, and the last message that the summary covers.
type ShownRequest struct {
	Opened int `json:"opened"`
	Upto   int `json:"upto"`
}

// maxShown is how many shown requests a session remembers.
const maxShown = 16

// Asked returns which requests were shown. Unreadable parts count as nothing.
func (x *Session) Asked() Asked {
	x.askedMu.Lock()
	defer x.askedMu.Unlock()
	return *x.loadAsked()
}

// NoteAsked remembers that the request was shown, nil: none was, and that its directory was read.
// It returns the error of storing that; until the end of the process it is remembered all the same.
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

// askedUpto returns up to which message a summary without a range of its own covers the history,
// by the requests that were shown; 0 if none was.
func (x *Session) askedUpto(messages int) (upto int) {
	for _, r := range x.Asked().Shown {
		if r.Upto <= messages {
			upto = max(upto, r.Upto)
		}
	}
	return upto
}

// AnswersRequests reports whether an agent can answer requests for a summary: one of its sessions
// has noted that with NoteAnswers.
func (s *Store) AnswersRequests(ref ctxabi.Ref) bool {
	_, err := s.Owned(ref).Derived(KnownAgents + "/" + ref.Agent)
	return err == nil || !errors.Is(err, fs.ErrNotExist)
}

// NoteAnswers notes that an agent can answer requests for a summary. It returns the error of that.
func (s *Store) NoteAnswers(ref ctxabi.Ref) error {
	return s.Owned(ref).SetDerived(KnownAgents+"/"+ref.Agent, nil)
}
