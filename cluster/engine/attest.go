package engine

import (
	"fmt"
	"strings"
)

// Attestation is what the replicas of a shard have.
type Attestation struct {
	Shard    int
	Created  string // when the shard was made; it differs if another of the same name replaced it
	Leader   string // the name of the server that leads; "" if none does
	Election string // which election made it the leader: each has another name; "" if that is not known
	Replicas []Replica
	Wanted   int // how many replicas the shard is to have
}

// Replica is what one replica of a shard has. Its sequences are those of the shard.
type Replica struct {
	Server      string
	First, Last uint64
	Entries     uint64
	Deleted     uint64 // sequences between First and Last that have no entry
	Lost        uint64 // entries that the replica itself knows to be damaged
}

// Problems returns one sentence for each defect of the replicas, none if they are sound. Replicas
// may differ in Last while entries are appended, and in First and Deleted for a moment when entries
// are trimmed: look twice before you act on it.
func (a Attestation) Problems() (list []string) {
	if len(a.Replicas) < a.Wanted {
		list = append(list, fmt.Sprintf("%d of %d replicas answer", len(a.Replicas), a.Wanted))
	}
	for i, r := range a.Replicas {
		if r.Lost > 0 {
			list = append(list, fmt.Sprintf("%s has lost %d entries", r.Server, r.Lost))
		}
		if r.Entries+r.Deleted != span(r.First, r.Last) {
			list = append(list, fmt.Sprintf("%s has %d entries and %d gaps between %d and %d", r.Server, r.Entries, r.Deleted, r.First, r.Last))
		}
		if o := a.Replicas[0]; i > 0 && (r.First != o.First || r.Deleted != o.Deleted) {
			list = append(list, fmt.Sprintf("%s begins at %d with %d gaps, and %s at %d with %d", r.Server, r.First, r.Deleted, o.Server, o.First, o.Deleted))
		}
	}
	return list
}

// span returns how many sequences are from first to last.
func span(first, last uint64) uint64 {
	if last < first {
		return 0
	}
	return last - first + 1
}

// Error returns ErrUnsafe with the problems, or nil.
func (a Attestation) Error() error {
	if p := a.Problems(); p != nil {
		return fmt.Errorf("%w: shard %d: %s", ErrUnsafe, a.Shard, strings.Join(p, "; "))
	}
	return nil
}
