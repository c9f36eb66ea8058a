package exam

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
)

// Key is who reads what: key.json. Neither readers nor graders may see it.
type Key struct {
	Methods   []string          `json:"methods"`
	Readers   []Reader          `json:"readers"`
	Questions map[string]string `json:"questions"` // SHA-256 of the questions about each prefix
	// Names are, for each prefix and question, the readers whose answers are named a, b, c and so on.
	Names map[string]map[string][]string `json:"names"`
}

// Reader is one who answers, and the prompts that one reads.
type Reader struct {
	ID      string   `json:"id"`
	Prompts []Prompt `json:"prompts"`
}

// Prompt is one method's prompt for a prefix.
type Prompt struct {
	Prefix string `json:"prefix"`
	Method string `json:"method"`
	SHA256 string `json:"sha256"`
}

// assign returns who reads what. Each prompt has one reader, and no reader reads about one session twice: the parts of a
// session go to different groups of readers. Within a group, of as many readers as there are methods, the methods
// make a Latin square: each reader reads each prefix of the group once, by the next method each time.
func assign(prefixes []Prefix, methods []string) (readers []Reader) {
	parts, most := map[int]int{}, 0
	for i := range prefixes {
		parts[prefixes[i].session]++
		most = max(most, parts[prefixes[i].session])
	}
	groups := make([][]*Prefix, most)
	for i := range prefixes { // the parts of a session stand in a row, and are no more than the groups
		groups[i%most] = append(groups[i%most], &prefixes[i])
	}
	for _, group := range groups {
		for r := range methods {
			reader := Reader{ID: fmt.Sprintf("R%02d", len(readers)+1)}
			for i, p := range group {
				reader.Prompts = append(reader.Prompts, Prompt{Prefix: p.ID, Method: methods[(r+i)%len(methods)]})
			}
			readers = append(readers, reader)
		}
	}
	return readers
}

// readersOf returns the readers of a prefix, in their order.
func (k *Key) readersOf(prefix string) (ids []string) {
	for _, r := range k.Readers {
		for _, p := range r.Prompts {
			if p.Prefix == prefix {
				ids = append(ids, r.ID)
			}
		}
	}
	return ids
}

// methodOf returns whose prompt for a prefix a reader has read.
func (k *Key) methodOf(reader, prefix string) string {
	for _, r := range k.Readers {
		for _, p := range r.Prompts {
			if r.ID == reader && p.Prefix == prefix {
				return p.Method
			}
		}
	}
	return ""
}

// shuffled returns readers in an order of a question's own, the same each time.
func shuffled(readers []string, prefix, question string) []string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%s", prefix, question)
	rng := rand.New(rand.NewPCG(h.Sum64(), uint64(len(readers))))
	out := make([]string, len(readers))
	for to, from := range rng.Perm(len(readers)) {
		out[to] = readers[from]
	}
	return out
}
