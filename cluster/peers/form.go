package peers

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/session/arrival"
)

// Version is the version of the forms. A host refuses what is newer, and who asks commits himself then.
const Version = 1

// ErrForm is the error of bytes that are not in the form of what they should be, or in a newer one.
var ErrForm = errors.New("it is not in a form that this host knows")

// What is sent begins with the version and a letter for what it is. Numbers are unsigned varints as short as they
// can be, signed ones in zigzag; texts and bytes stand behind their length. Each value has one form.
const (
	formAppend  = 'A'
	formReceipt = 'R'
	formHead    = 'H'
)

// Encode returns the form of a.
func (a *Append) Encode() []byte {
	b := []byte{Version, formAppend}
	for _, s := range []string{a.Subject.Owner, a.Subject.Session, a.From} {
		b = appendText(b, s)
	}
	b = binary.AppendUvarint(b, a.Next)
	b = binary.AppendUvarint(b, uint64(len(a.Requests)))
	for i := range a.Requests {
		b = a.Requests[i].encode(b)
	}
	return b
}

func (r *Request) encode(b []byte) []byte {
	alone := byte(0)
	if r.Alone {
		alone = 1
	}
	b = binary.AppendUvarint(b, r.Key.Conn)
	b = binary.AppendUvarint(b, r.Key.Unique)
	b = append(b, byte(r.Kind), alone)
	b = appendText(b, r.Data)
	b = append(b, r.SHA[:]...)
	b = binary.AppendVarint(b, r.Len)
	b = binary.AppendVarint(b, r.At)
	b = binary.AppendUvarint(b, uint64(r.UID))
	b = binary.AppendUvarint(b, uint64(r.PID))
	return appendText(appendText(b, r.Content), r.Body)
}

// ParseAppend reads what Encode has made. Its bytes are parts of b. It returns ErrForm for anything else.
func ParseAppend(b []byte) (*Append, error) {
	d := decode(b, formAppend)
	a := &Append{Subject: engine.Subject{Owner: d.text(), Session: d.text()}, From: d.text(), Next: d.number(math.MaxUint64)}
	for n := d.number(journal.MaxRows); n > 0 && d.err == nil; n-- {
		var r Request
		r.Key = arrival.Key{Conn: d.number(math.MaxUint64), Unique: d.number(math.MaxUint64)}
		kind := d.take(2)
		if d.err != nil || kind[1] > 1 {
			d.fail()
			break
		}
		r.Kind, r.Alone = journal.Kind(kind[0]), kind[1] == 1
		r.Data = d.bytes()
		copy(r.SHA[:], d.take(uint64(len(r.SHA))))
		r.Len, r.At = d.signed(), d.signed()
		r.UID, r.PID = uint32(d.number(math.MaxUint32)), uint32(d.number(math.MaxUint32))
		r.Content, r.Body = d.bytes(), d.bytes()
		a.Requests = append(a.Requests, r)
	}
	return a, d.end()
}

// Encode returns the form of r.
func (r *Receipt) Encode() []byte {
	b := binary.AppendUvarint([]byte{Version, formReceipt}, r.Seq)
	b = binary.AppendUvarint(b, uint64(len(r.Outcomes)))
	for _, o := range r.Outcomes {
		b = append(b, byte(o))
	}
	return b
}

// ParseReceipt reads what Encode has made. It returns ErrForm for anything else.
func ParseReceipt(b []byte) (*Receipt, error) {
	d := decode(b, formReceipt)
	r := &Receipt{Seq: d.number(math.MaxUint64)}
	for _, o := range d.take(d.number(journal.MaxRows)) {
		if Outcome(o) > Unknown {
			d.fail()
		}
		r.Outcomes = append(r.Outcomes, Outcome(o))
	}
	return r, d.end()
}

// Encode returns the form of h.
func (h Head) Encode() []byte {
	b := binary.AppendUvarint([]byte{Version, formHead}, h.I)
	b = append(b, h.Chain[:]...)
	return binary.AppendUvarint(b, h.Seq)
}

// ParseHead reads what Encode has made. It returns ErrForm for anything else.
func ParseHead(b []byte) (h Head, err error) {
	d := decode(b, formHead)
	h.I = d.number(math.MaxUint64)
	copy(h.Chain[:], d.take(uint64(len(h.Chain))))
	h.Seq = d.number(math.MaxUint64)
	return h, d.end()
}

func appendText[T []byte | string](b []byte, v T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(v))), v...)
}

// decoder reads a form. After the first error it returns zeros.
type decoder struct {
	rest []byte
	err  error
}

func decode(b []byte, what byte) *decoder {
	d := &decoder{rest: b}
	if head := d.take(2); d.err == nil && (head[0] != Version || head[1] != what) {
		d.err = fmt.Errorf("%w: version %d, %q", ErrForm, head[0], head[1])
	}
	return d
}

func (d *decoder) fail() {
	if d.err == nil {
		d.err = ErrForm
	}
	d.rest = nil
}

func (d *decoder) take(n uint64) []byte {
	if d.err != nil || n > uint64(len(d.rest)) {
		d.fail()
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

// number returns a number up to most.
func (d *decoder) number(most uint64) uint64 {
	n, size := binary.Uvarint(d.rest)
	if d.err != nil || size <= 0 || size > 1 && d.rest[size-1] == 0 || n > most {
		d.fail()
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

func (d *decoder) signed() int64 {
	u := d.number(math.MaxUint64)
	n := int64(u >> 1)
	if u&1 != 0 {
		n = ^n
	}
	return n
}

// bytes returns nil for none.
func (d *decoder) bytes() []byte {
	if b := d.take(d.number(math.MaxInt64)); len(b) > 0 {
		return b
	}
	return nil
}

func (d *decoder) text() string { return string(d.bytes()) }

// end returns the first error; that there is more is one.
func (d *decoder) end() error {
	if d.err == nil && len(d.rest) > 0 {
		d.err = fmt.Errorf("%w: %d bytes are behind its end", ErrForm, len(d.rest))
	}
	return d.err
}
