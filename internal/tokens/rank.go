package tokens

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"
	"sync"

	"github.com/pkoukk/tiktoken-go-loader/assets"
)

// none is the rank of what is not a token: higher than every rank.
const none = 1<<32 - 1

// ranks is the vocabulary of an encoding: the lower the rank of two parts
// joined, the earlier they are joined. It never changes once loaded.
type ranks struct {
	of      map[string]uint32
	pair    []uint32 // the rank of two bytes, by first<<8 | second
	longest int      // bytes of the longest token
}

// rank is none for what is not a token.
func (r *ranks) rank(s string) uint32 {
	if len(s) == 2 {
		return r.pair[int(s[0])<<8|int(s[1])]
	}
	if len(s) > r.longest {
		return none
	}
	if n, ok := r.of[s]; ok {
		return n
	}
	return none
}

// counters load on first use, once, and are shared from then on.
var counters = map[string]func() (*Counter, error){
	"cl100k_base": lazily("cl100k_base", splitCl100k),
	"o200k_base":  lazily("o200k_base", splitO200k),
}

func lazily(name string, s splitter) func() (*Counter, error) {
	return sync.OnceValues(func() (*Counter, error) {
		r, err := loadRanks(name)
		if err != nil {
			return nil, err
		}
		return &Counter{name: name, split: s, ranks: r}, nil
	})
}

// loadRanks reads the embedded table of an encoding: lines of a token in
// base64, a blank and its rank. All tokens share one string.
func loadRanks(name string) (*ranks, error) {
	table, err := assets.Assets.ReadFile(name + ".tiktoken")
	if err != nil {
		return nil, fmt.Errorf("tokens: encoding %s is not embedded: %w", name, err)
	}
	type row struct {
		end  int
		rank uint32
	}
	rows := make([]row, 0, bytes.Count(table, []byte{'\n'})+1)
	text := make([]byte, 0, len(table))
	for line := range bytes.Lines(table) {
		token, num, ok := bytes.Cut(bytes.TrimSpace(line), []byte{' '})
		if !ok {
			continue
		}
		if text, err = base64.StdEncoding.AppendDecode(text, token); err != nil {
			return nil, fmt.Errorf("tokens: encoding %s: row %d: %w", name, len(rows)+1, err)
		}
		n, err := strconv.ParseUint(string(num), 10, 32)
		if err != nil {
			return nil, fmt.Errorf("tokens: encoding %s: row %d: %w", name, len(rows)+1, err)
		}
		rows = append(rows, row{len(text), uint32(n)})
	}
	r := &ranks{of: make(map[string]uint32, len(rows)), pair: make([]uint32, 1<<16)}
	for i := range r.pair {
		r.pair[i] = none
	}
	all, start := string(text), 0
	for _, w := range rows {
		token := all[start:w.end]
		start = w.end
		r.of[token] = w.rank
		r.longest = max(r.longest, len(token))
		if len(token) == 2 {
			r.pair[int(token[0])<<8|int(token[1])] = w.rank
		}
	}
	for b := range 256 {
		if _, ok := r.of[string([]byte{byte(b)})]; !ok {
			return nil, fmt.Errorf("tokens: encoding %s has no token for byte %#x", name, b)
		}
	}
	return r, nil
}
