package arrival

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Hash is a SHA-256 value.
type Hash [sha256.Size]byte

// LinkSize is how many bytes of the chain's value each row has.
const LinkSize = 8

// ChainEvery is of how many rows in a row one has the chain's value whole, at least.
const ChainEvery = 16

// Key identifies one request, so that a request sent twice is committed once.
// The zero Key identifies none.
type Key struct{ Conn, Unique uint64 }

// Row is one row of an arrivals file: one commit.
type Row struct {
	Off, Len  int64
	SHA       Hash // of the data
	Chain     Hash // its first LinkSize bytes alone, and zeros, where Whole is false
	Whole     bool
	At        int64 // unix ns
	UID, PID  uint32
	Events    int64 // committed length of events.jsonl; -1 in that log's own rows
	Key       Key
	Estimated bool // made up at recovery, for data that had no row
}

// End returns where the log ended behind the commit.
func (a *Row) End() int64 { return a.Off + a.Len }

// Follows returns the chain's value behind the row, if prev is that in front of it. ok reports
// whether the row has that value, too.
func (a *Row) Follows(prev Hash) (chain Hash, ok bool) {
	chain = ChainNext(prev, a.SHA, a.Off, a.Len)
	if a.Whole {
		return chain, chain == a.Chain
	}
	return chain, [LinkSize]byte(chain[:]) == [LinkSize]byte(a.Chain[:])
}

// ChainSeed returns the chain's value before the first row of a log.
func ChainSeed(id, log string) Hash {
	raw, _ := hex.DecodeString(id)
	return sha256.Sum256(append(raw, log...))
}

// ChainNext returns the chain's value behind a row that comes behind the one with the value prev.
func ChainNext(prev, sha Hash, off, length int64) Hash {
	var b [2*sha256.Size + 16]byte
	copy(b[:], prev[:])
	copy(b[sha256.Size:], sha[:])
	binary.BigEndian.PutUint64(b[2*sha256.Size:], uint64(off))
	binary.BigEndian.PutUint64(b[2*sha256.Size+8:], uint64(length))
	return sha256.Sum256(b[:])
}

// Chain goes from row to row and knows the chain's value behind the last one. The zero Chain knows
// it from the first row on that has it whole.
type Chain struct {
	Value Hash
	Next  int64 // where the log ended behind the last row
	Known bool  // Value is the chain's; else it is what the last row has of it
	Run   int   // rows since one that was written with the whole value
}

// ChainFrom returns the chain in front of the first row of a log.
func ChainFrom(id, log string) Chain {
	return Chain{Value: ChainSeed(id, log), Known: true, Run: ChainEvery}
}

// Add goes on to the next row, and makes its chain value whole where that is known. ok is false if
// the row does not follow: it does not begin where the last one ended, or has another chain value.
// Where the value in front of it is not known, ok is about the place alone.
func (c *Chain) Add(a *Row) (ok bool) {
	ok = a.Off == c.Next
	if c.Known && ok {
		chain, fits := a.Follows(c.Value)
		if fits {
			a.Chain = chain
		}
		ok = fits
	}
	if c.Run++; a.Whole {
		c.Run = 0
	}
	c.Known = a.Whole || c.Known && ok
	c.Value, c.Next = a.Chain, a.End()
	a.Whole = c.Known
	return ok
}

// Pass goes on past bytes of which no row can be read, to the row a behind them. sum is the hash of
// [Next, a.Off) as it is now. Pass reports whether the chain value of a proves that these bytes
// came with one commit; the chain goes on behind it then, and is not known otherwise.
func (c *Chain) Pass(sum Hash, a *Row) (proven bool) {
	if c.Known && a.Off > c.Next {
		chain := ChainNext(c.Value, sum, c.Next, a.Off-c.Next)
		if _, proven = a.Follows(chain); proven {
			c.Value, c.Next = chain, a.Off
			c.Run++
			return true
		}
	}
	c.Lose(a.Off)
	return false
}

// Lose goes on to next, where the chain's value is not known.
func (c *Chain) Lose(next int64) { c.Known, c.Next = false, next }

// Extend sets the chain value of a row that is written next, and whether it is written whole. The
// caller adds the row once it is written.
func (c *Chain) Extend(a *Row) {
	a.Chain = ChainNext(c.Value, a.SHA, a.Off, a.Len)
	a.Whole = !c.Known || a.Off != c.Next || c.Run+1 >= ChainEvery
}

// Shorten sets whether a row that is written next is written with its whole chain value, where that
// is known: it must be where the value does not follow from the row before it.
func (c *Chain) Shorten(a *Row) {
	_, follows := a.Follows(c.Value)
	a.Whole = a.Whole && !(c.Known && a.Off == c.Next && follows && c.Run+1 < ChainEvery)
}
