package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"

	"github.com/ctxfs/ctxfs/internal/vfs"
)

// Entry is what a session remembers of a sealed part. The list of them, .ctxfs/segments, says where
// the tail begins:
//
//	{"parts":[{"number":1,"off":0,"size":7340032,...}],"pending":false,"crc":"9a3cf0b1"}
//
// It is written anew before a part takes the place of raw records, with "pending" true, and after
// that with false. While it is pending, the length that the arrivals give tells which of both the
// tail is (settle). A list that is lost is made again from what the parts say about themselves, and
// so is the end of one that is older than they are.
type Entry struct { // in the order of the keys
	Chain   string `json:"chain"`   // of the log, behind it
	Number  int    `json:"number"`  // in the file's name
	Off     int64  `json:"off"`     // where it begins in the log
	Packed  int64  `json:"packed"`  // size of the file
	Records int    `json:"records"` // newlines in it
	SHA256  string `json:"sha256"`  // of the records
	Size    int64  `json:"size"`    // of the records
	Sums    string `json:"sums"`    // 16 hex digits a frame, the first of its SHA-256: for a part whose own table is damaged
}

// End is where the part ends in the log.
func (e *Entry) End() int64 { return e.Off + e.Size }

// List is the list of the sealed parts of a log, in their order.
type List struct {
	Parts   []Entry `json:"parts"`
	Pending bool    `json:"pending"`
}

// Base is where the tail of the log begins.
func (m *List) Base() int64 {
	if len(m.Parts) == 0 {
		return 0
	}
	return m.Parts[len(m.Parts)-1].End()
}

// ParseList reads a list; what does not fit together is an error.
func ParseList(data []byte) (*List, error) {
	m := new(List)
	line := bytes.TrimSuffix(data, []byte{'\n'})
	if !bytes.Contains(line, []byte(vfs.SumKey)) || !vfs.SumFits(line, m) {
		return nil, errors.New("it does not match its checksum")
	}
	next := int64(0)
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Off != next || p.Size <= 0 || p.End() < 0 || p.Number < 1 || p.Records < 0 || i > 0 && p.Number <= m.Parts[i-1].Number {
			return nil, fmt.Errorf("part %d does not fit the part before it", i+1)
		}
		next = p.End()
	}
	if m.Pending && len(m.Parts) == 0 {
		return nil, errors.New("it is pending and has no part")
	}
	return m, nil
}

// findParts makes the list from the parts that lie in the session's directory; nil when there are none.
func (at *Location) findParts() (*List, error) {
	x := at.Dir
	v := x.Root.FS
	entries, err := v.ReadDir(x.Dir())
	if err != nil {
		return nil, err
	}
	var numbers []int
	for _, e := range entries {
		if log, n, ok := ParsePartName(e.Name()); ok && log == at.Log && e.Type().IsRegular() {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	list := &List{}
	for _, n := range numbers {
		f, err := v.OpenFile(x.Path(PartName(at.Log, n)), os.O_RDONLY, 0)
		if err != nil {
			return nil, err
		}
		fi, err := f.Stat()
		if err != nil {
			f.Close()
			return nil, err
		}
		m, err := ReadMeta(f, fi.Size())
		f.Close()
		if err != nil || m.Log != at.Log {
			continue // nothing of ours, or damaged: what it held is a gap
		}
		next := list.Base()
		if m.Off < next {
			continue // the same again
		}
		if m.Off > next {
			list.Parts = append(list.Parts, list.gap(next, m.Off))
			if list.Parts[len(list.Parts)-1].Number >= n {
				return nil, fmt.Errorf("the parts before %s are lost", path.Base(PartName(at.Log, n)))
			}
		}
		list.Parts = append(list.Parts, Entry{Chain: m.Chain, Number: n, Off: m.Off, Packed: fi.Size(), Records: m.Records, SHA256: m.SHA256, Size: m.Size, Sums: m.Sums()})
	}
	if len(list.Parts) == 0 {
		return nil, nil
	}
	return list, nil
}

// newerList is list with the parts that were sealed after it: it came from a backup, or was copied
// before they were. Nil when none lies where it ends, or the tail, of size bytes, begins with its
// records.
func (d *Data) newerList(list *List, size int64) (*List, error) {
	found, err := d.at.findParts()
	if err != nil || found == nil {
		return nil, err
	}
	i := slices.IndexFunc(found.Parts, func(e Entry) bool { return e.Off == list.Base() && e.SHA256 != "" })
	if i < 0 || len(list.Parts) > 0 && found.Parts[i].Number <= list.Parts[len(list.Parts)-1].Number {
		return nil, nil
	}
	p := &Part{Entry: found.Parts[i], at: d.at}
	if size >= p.Size {
		if p.find(); p.gone != nil {
			return nil, p.gone
		}
		if raw, err := d.holds(p, 0); raw || err != nil {
			return nil, err
		}
	}
	return &List{Parts: append(slices.Clip(list.Parts), found.Parts[i:]...)}, nil
}

// gap stands for what lies between two parts and cannot be found.
func (list *List) gap(from, to int64) Entry {
	number := 1
	if n := len(list.Parts); n > 0 {
		number = list.Parts[n-1].Number + 1
	}
	return Entry{Number: number, Off: from, Size: to - from}
}

// Line is the list as it is kept, a summed line.
func (m *List) Line() []byte {
	data, err := json.Marshal(m)
	if err != nil {
		panic(err) // it has only strings and numbers
	}
	return append(vfs.Summed(data), '\n')
}
