package fs

import (
	"container/list"
	"sync"
)

// maxAnswers is the most bytes of answers to queries in memory, the last answer not counted.
const maxAnswers = 8 << 20

// answers is a cache of the last answers, so that a program that looks a query up and then opens it
// reads the answer that it has seen: the same query may find more by then. It is safe for
// concurrent use.
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

// get returns the answer with the hash sum.
func (s *answers) get(sum string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.use(s.at[sum])
}

// of returns the answer in a state of the logs.
func (s *answers) of(state string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.use(s.states[state])
}

// use returns the answer e, and false if e is nil. The caller holds s.mu.
func (s *answers) use(e *list.Element) ([]byte, bool) {
	if e == nil {
		return nil, false
	}
	s.order.MoveToFront(e)
	return e.Value.(*answer).data, true
}

// put adds an answer, as the one in a state of the logs unless state is "", and evicts the ones
// that were used longest ago.
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
