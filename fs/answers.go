package fs

import (
	"container/list"
	"sync"
)

// maxAnswers is how many bytes of answers to queries are kept, the last one not counted.
const maxAnswers = 8 << 20

// answers keeps what was searched for last, so that who looks a name up and then opens it gets what he saw: whoever asks the same at
// the same moment may have found more.
type answers struct {
	mu     sync.Mutex
	order  list.List // of *answer, the last used first; guarded by mu
	at     map[string]*list.Element
	states map[string]*list.Element // the last answer to a query in a state of the logs; guarded by mu
	size   int                      // bytes of all; guarded by mu
}

type answer struct {
	sum    string
	states []string
	data   []byte
}

// get gives an answer by the sum of its bytes.
func (s *answers) get(sum string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.use(s.at[sum])
}

// of gives the answer in a state of the logs.
func (s *answers) of(state string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.use(s.states[state])
}

// use gives the answer e, if there is one. s.mu is held.
func (s *answers) use(e *list.Element) ([]byte, bool) {
	if e == nil {
		return nil, false
	}
	s.order.MoveToFront(e)
	return e.Value.(*answer).data, true
}

// put keeps an answer, as that in a state of the logs unless state is "".
func (s *answers) put(state, sum string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at == nil {
		s.at, s.states = map[string]*list.Element{}, map[string]*list.Element{}
	}
	e := s.at[sum]
	if e == nil {
		e = s.order.PushFront(&answer{sum: sum, data: data})
		s.at[sum] = e
		s.size += len(data)
	}
	s.order.MoveToFront(e)
	if a := e.Value.(*answer); state != "" && s.states[state] != e {
		a.states = append(a.states, state)
		s.states[state] = e
	}
	for s.size > maxAnswers && s.order.Len() > 1 {
		last := s.order.Back()
		old := s.order.Remove(last).(*answer)
		s.size -= len(old.data)
		delete(s.at, old.sum)
		for _, state := range old.states {
			if s.states[state] == last {
				delete(s.states, state)
			}
		}
	}
}
