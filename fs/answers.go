package fs

import (
	"sync"

	"github.com/ctxfs/ctxfs/internal/lru"
)

// maxAnswers is the most bytes of answers to queries in memory, the last answer not counted.
const maxAnswers = 8 << 20

// answers is a cache of the last answers, so that a program that looks a query up and then opens it
// reads the answer that it has seen: the same query may find more by then. It is safe for
// concurrent use.
type answers struct {
	mu     sync.Mutex
	hashes lru.Cache[string, *answer] // by their hashes, with their bytes; guarded by mu
	states map[string]string          // the hash of the last answer to a query in a state of the logs; guarded by mu
}

type answer struct {
	states []string
	data   []byte
}

// get returns the answer with the hash sum.
func (s *answers) get(sum string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.use(sum)
}

// of returns the answer in a state of the logs.
func (s *answers) of(state string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.use(s.states[state])
}

// use returns the answer with the hash sum, and false if there is none. The caller holds s.mu.
func (s *answers) use(sum string) ([]byte, bool) {
	a, ok := s.hashes.Get(sum)
	if !ok {
		return nil, false
	}
	return a.data, true
}

// put adds an answer, as the one in a state of the logs unless state is "", and evicts the ones
// that were used longest ago.
func (s *answers) put(state, sum string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.states == nil {
		s.states = map[string]string{}
	}
	a, ok := s.hashes.Get(sum)
	if !ok {
		a = &answer{data: data}
		s.hashes.Put(sum, a, int64(len(data)))
	}
	if state != "" && s.states[state] != sum {
		a.states = append(a.states, state)
		s.states[state] = sum
	}
	s.hashes.Trim(maxAnswers, func(sum string, old *answer) {
		for _, state := range old.states {
			if s.states[state] == sum {
				delete(s.states, state)
			}
		}
	})
}
