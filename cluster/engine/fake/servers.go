package fake

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// replicas is how many replicas each shard has.
const replicas = 3

// Servers is a cluster in memory. Its methods may be called at the same time.
type Servers struct {
	mu sync.Mutex // guards all below, and the fields of hosts and feeds that name it

	shards  [engine.OwnerShard + 1]shard
	objects map[engine.Key][]byte
	feeds   []*feed
	delayed []func()
	full    bool
	turn    int // of replicas that answer reads
}

// shard is a stream of entries.
type shard struct {
	last    uint64
	first   uint64 // the lowest sequence that may be there
	entries []entry
	ids     map[string]entry
	leader  int
	lost    [replicas]map[uint64]bool // entries that one replica no longer has
	made    int
}

// entry is an entry of a shard.
type entry struct {
	subject engine.Subject
	engine.Entry
}

// New returns servers without entries.
func New() *Servers {
	s := &Servers{objects: map[engine.Key][]byte{}}
	for i := range s.shards {
		s.shards[i] = shard{first: 1, ids: map[string]entry{}}
	}
	return s
}

// Lose makes one replica of a shard, 0 to 2, forget the entry seq.
func (s *Servers) Lose(shard, replica int, seq uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lost := &s.shards[shard].lost[replica]
	if *lost == nil {
		*lost = map[uint64]bool{}
	}
	(*lost)[seq] = true
}

// Lead makes a replica of a shard the leader.
func (s *Servers) Lead(shard, replica int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shards[shard].leader = replica
}

// Truncate makes all replicas of a shard forget the last n entries, acknowledged or not.
func (s *Servers) Truncate(shard, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh := &s.shards[shard]
	sh.entries = sh.entries[:max(0, len(sh.entries)-n)]
	sh.last = sh.first - 1
	if k := len(sh.entries); k > 0 {
		sh.last = sh.entries[k-1].Seq
	}
	maps.DeleteFunc(sh.ids, func(_ string, e entry) bool { return e.Seq > sh.last })
}

// Fill makes the servers refuse what needs room, or take it again.
func (s *Servers) Fill(full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full = full
}

// Forget makes the servers forget the ids of entries, as they may once they are old.
func (s *Servers) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.shards {
		clear(s.shards[i].ids)
	}
}

// Land makes the appends that were delayed arrive now, in their order.
func (s *Servers) Land() {
	s.mu.Lock()
	defer s.mu.Unlock()
	late := s.delayed
	s.delayed = nil
	for _, f := range late {
		f()
	}
}

// commit stores an entry, or returns why not. The caller holds mu.
func (s *Servers) commit(subject engine.Subject, expected uint64, e engine.Entry) (uint64, error) {
	sh := &s.shards[subject.Shard()]
	if old, ok := sh.ids[e.ID]; ok {
		if old.subject == subject && old.Same(e) {
			return old.Seq, nil
		}
		return 0, fmt.Errorf("%w: %s", engine.ErrIDTaken, e.ID)
	}
	last := sh.lastOf(subject, sh.leader)
	if last.Seq != expected {
		return 0, &engine.Conflict{Last: last.Seq}
	}
	if s.full {
		return 0, engine.ErrFull
	}
	sh.last++
	e.Seq = sh.last
	e.Header, e.Payload = maps.Clone(e.Header), slices.Clone(e.Payload)
	stored := entry{subject, e}
	sh.entries, sh.ids[e.ID] = append(sh.entries, stored), stored
	s.deliver(subject, e, last.Seq)
	return e.Seq, nil
}

// lastOf returns the last entry of a subject that a replica has.
func (sh *shard) lastOf(subject engine.Subject, replica int) engine.Entry {
	for _, e := range slices.Backward(sh.entries) {
		if e.subject == subject && !sh.lost[replica][e.Seq] {
			return e.copy()
		}
	}
	return engine.Entry{}
}

// read returns entries of a subject that a replica has, but for the last few of the shard.
func (sh *shard) read(subject engine.Subject, r engine.Range, replica, behind int) (list []engine.Entry) {
	size := 0
	for _, e := range sh.entries[:max(0, len(sh.entries)-behind)] {
		if e.subject != subject || e.Seq < r.From || sh.lost[replica][e.Seq] {
			continue
		}
		list = append(list, e.copy())
		for name, value := range e.Header {
			size += len(name) + len(value)
		}
		if size += len(e.Payload); size >= r.Bytes || len(list) == r.Count {
			break
		}
	}
	return list
}

// trim removes the entries of a subject below before.
func (sh *shard) trim(subject engine.Subject, before uint64) {
	sh.entries = slices.DeleteFunc(sh.entries, func(e entry) bool { return e.subject == subject && e.Seq < before })
	sh.first = sh.last + 1
	if len(sh.entries) > 0 {
		sh.first = sh.entries[0].Seq
	}
}

// attest returns what the replicas of a shard have.
func (sh *shard) attest(n int) engine.Attestation {
	a := engine.Attestation{Shard: n, Created: fmt.Sprint(sh.made), Leader: server(sh.leader), Wanted: replicas}
	for i := range replicas {
		r := engine.Replica{Server: server(i), First: sh.first, Last: sh.last}
		for _, e := range sh.entries {
			if !sh.lost[i][e.Seq] {
				r.Entries++
			}
		}
		if r.Last >= r.First {
			r.Deleted = r.Last - r.First + 1 - r.Entries
		}
		a.Replicas = append(a.Replicas, r)
	}
	return a
}

// server returns the name of a replica.
func server(i int) string { return fmt.Sprint("n", i+1) }
