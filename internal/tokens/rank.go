package tokens

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"sync"

	"github.com/pkoukk/tiktoken-go-loader/assets"
)

// none is the rank of what is not a token: higher than every rank.
const none = 1<<32 - 1

// ranks is the vocabulary of an encoding: the lower the rank of two parts
// joined, the earlier they are joined. It never changes once loaded.
//
// A token's number is its rank. The numbers lie in slots by the tokens' hashes, each in the first free
// one from its own on. That takes half of the memory of a map of strings, and holds no pointers.
type ranks struct {
	text    string   // all tokens, one behind the other
	ends    []uint32 // where each ends in text
	slots   []uint32 // 0: free; else the number + 1, and above it tagBits of the hash
	pair    []uint32 // the rank of two bytes, by first<<8 | second
	longest int      // bytes of the longest token
}

const (
	slotBits   = 19
	numberBits = 18
	tagBits    = 32 - numberBits
)

// token returns the token with a number.
func (r *ranks) token(number uint32) string {
	start := uint32(0)
	if number > 0 {
		start = r.ends[number-1]
	}
	return r.text[start:r.ends[number]]
}

// place returns the slot of s, or the free one where s would be, and the tag of s.
func (r *ranks) place(s string) (slot, tag uint32) {
	h := maphash.String(pieceSeed, s)
	slot, tag = uint32(h)&(1<<slotBits-1), uint32(h>>(64-tagBits))<<numberBits
	for ; r.slots[slot] != 0; slot = (slot + 1) & (1<<slotBits - 1) {
		if v := r.slots[slot]; v&^(1<<numberBits-1) == tag && r.token(v&(1<<numberBits-1)-1) == s {
			break
		}
	}
	return slot, tag
}

// rank is none for what is not a token.
func (r *ranks) rank(s string) uint32 {
	if len(s) == 2 {
		return r.pair[int(s[0])<<8|int(s[1])]
	}
	if len(s) > r.longest {
		return none
	}
	if slot, _ := r.place(s); r.slots[slot] != 0 {
		return r.slots[slot]&(1<<numberBits-1) - 1
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
// base64, a blank and its rank, which is the line's number from 0.
func loadRanks(name string) (*ranks, error) {
	table, err := assets.Assets.Open(name + ".tiktoken")
	if err != nil {
		return nil, fmt.Errorf("tokens: encoding %s is not embedded: %w", name, err)
	}
	defer table.Close()
	r := &ranks{slots: make([]uint32, 1<<slotBits), pair: make([]uint32, 1<<16)}
	for i := range r.pair {
		r.pair[i] = none
	}
	var text, want []byte
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		token, num, ok := bytes.Cut(bytes.TrimSpace(lines.Bytes()), []byte{' '})
		if !ok {
			continue
		}
		number, start := len(r.ends), len(text)
		if text, err = base64.StdEncoding.AppendDecode(text, token); err != nil {
			return nil, fmt.Errorf("tokens: encoding %s: row %d: %w", name, number+1, err)
		}
		if want = strconv.AppendInt(want[:0], int64(number), 10); !bytes.Equal(num, want) || number+1 >= 1<<numberBits {
			return nil, fmt.Errorf("tokens: encoding %s: row %d has the rank %q", name, number+1, num)
		}
		r.ends = append(r.ends, uint32(len(text)))
		r.longest = max(r.longest, len(text)-start)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("tokens: encoding %s: %w", name, err)
	}
	r.text, r.ends = string(text), slices.Clip(slices.Clone(r.ends))
	for number := range uint32(len(r.ends)) {
		token := r.token(number)
		slot, tag := r.place(token)
		r.slots[slot] = tag | (number + 1)
		if len(token) == 2 {
			r.pair[int(token[0])<<8|int(token[1])] = number
		}
	}
	for b := range 256 {
		if slot, _ := r.place(string([]byte{byte(b)})); r.slots[slot] == 0 {
			return nil, fmt.Errorf("tokens: encoding %s has no token for byte %#x", name, b)
		}
	}
	return r, nil
}
