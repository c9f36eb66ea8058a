package bulk

import (
	"encoding/hex"
	"math"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session/archive"
)

// Part is the content of a row of kind [journal.Part]: a sealed part of a log lies among the objects.
type Part struct {
	Log     string // ctxabi.MessagesFile or ctxabi.EventsFile
	Off     int64  // where it begins in the log
	Size    int64  // bytes of its records
	Records int
	Chain   journal.Hash // of the log, behind it
	SHA     journal.Hash // of its records
	Sums    []byte       // 8 bytes a frame, the first of the SHA-256 of its records
	File    Ref          // the part as a file: the object
	Trailer Ref          // the end of that file, which describes the frames
	Index   Ref          // its index object
}

// End returns where the part ends in the log.
func (p *Part) End() int64 { return p.Off + p.Size }

// Name returns the name of the object of the part, in a session.
func (p *Part) Name(session string) Name { return PartName(session, p.Log, p.Off, p.File.SHA) }

// IndexName returns the name of the index object of the part, in a session.
func (p *Part) IndexName(session string) Name { return IndexName(session, p.Log, p.Off, p.Index.SHA) }

// Entry returns the part as a line of the list of a store, under a number.
func (p *Part) Entry(number int) archive.Entry {
	return archive.Entry{Chain: hex.EncodeToString(p.Chain[:]), Number: number, Off: p.Off, Packed: p.File.Size, Records: p.Records,
		SHA256: hex.EncodeToString(p.SHA[:]), Size: p.Size, Sums: hex.EncodeToString(p.Sums)}
}

// frameSum is how many bytes of the hash of a frame stand in Sums.
const frameSum = 8

// logNumbers are the logs as rows and snapshots have them.
var logNumbers = []string{ctxabi.MessagesFile, ctxabi.EventsFile}

// Encode returns the content of the row.
func (p *Part) Encode() []byte { return p.append([]byte{version}) }

func (p *Part) append(b []byte) []byte {
	log := uint64(0)
	if p.Log == ctxabi.EventsFile {
		log = 1
	}
	b = appendNumber(b, log)
	for _, n := range []int64{p.Off, p.Size, int64(p.Records)} {
		b = appendNumber(b, uint64(n))
	}
	b = append(append(b, p.Chain[:]...), p.SHA[:]...)
	b = appendBytes(b, p.Sums)
	return appendRef(appendRef(appendRef(b, p.File), p.Trailer), p.Index)
}

// ParsePart returns the part that [Part.Encode] wrote. It returns [ErrDamaged] for any other bytes, and
// journal.ErrVersion for those of a later version.
func ParsePart(b []byte) (Part, error) {
	d := decode("a row of a part", "", b)
	p := d.part()
	if err := d.end(); err != nil {
		return Part{}, err
	}
	return p, nil
}

// Away is what a host keeps of a part that has no file there: its row, and the end of its file if that is known.
type Away struct {
	Part
	Trailer []byte // nil: it is not known
}

// Encode returns the content of the file [archive.AwayRow].
func (a *Away) Encode() []byte {
	b := a.Part.Encode()
	if a.Trailer != nil {
		b = appendBytes(b, a.Trailer)
	}
	return b
}

// ParseAway returns what [Away.Encode] wrote. It returns [ErrDamaged] for any other bytes, also for a trailer that is not the one
// of the row, and journal.ErrVersion for those of a later version.
func ParseAway(b []byte) (a Away, err error) {
	d := decode("a row of a part", "", b)
	a.Part = d.part()
	if len(d.rest) > 0 {
		a.Trailer = d.bytes()
		d.want(RefOf(a.Trailer) == a.Part.Trailer, "another end of the part")
	}
	if err := d.end(); err != nil {
		return Away{}, err
	}
	return a, nil
}

func (d *decoder) part() (p Part) {
	p.Log = logNumbers[d.number(uint64(len(logNumbers)-1))]
	p.Off, p.Size, p.Records = d.size(), d.size(), int(d.number(math.MaxInt32))
	p.Chain, p.SHA, p.Sums = d.hash(), d.hash(), d.bytes()
	p.File, p.Trailer, p.Index = d.ref(), d.ref(), d.ref()
	d.want(p.Size > 0 && p.End() > 0 && int64(p.Records) <= p.Size, "%d bytes at %d with %d records", p.Size, p.Off, p.Records)
	d.want(len(p.Sums)%frameSum == 0 && len(p.Sums) > 0, "%d bytes of hashes of frames", len(p.Sums))
	d.want(p.Trailer.Size > 0 && p.Trailer.Size < p.File.Size && p.File.Size <= engine.MaxObject && p.Index.Size <= engine.MaxObject, "wrong sizes of objects")
	return p
}

// Saved is the content of a row of kind [journal.Snapshot]: all of the journal before the entry of the
// row lies among the objects.
type Saved struct {
	At     journal.Position // where the entry of the row begins
	Object Ref              // the snapshot
}

// Name returns the name of the snapshot, of a session.
func (s *Saved) Name(session string) Name { return SnapshotName(session, s.At.I, s.Object.SHA) }

// Encode returns the content of the row.
func (s *Saved) Encode() []byte {
	b := appendNumber([]byte{version}, s.At.I)
	return appendRef(append(b, s.At.Chain[:]...), s.Object)
}

// ParseSaved returns what [Saved.Encode] wrote. It returns [ErrDamaged] for any other bytes, and
// journal.ErrVersion for those of a later version.
func ParseSaved(b []byte) (Saved, error) {
	d := decode("a row of a snapshot", "", b)
	s := Saved{At: journal.Position{I: d.number(math.MaxUint64), Chain: d.hash()}, Object: d.ref()}
	d.want(s.Object.Size > 0 && s.Object.Size <= engine.MaxObject, "a snapshot of %d bytes", s.Object.Size)
	if err := d.end(); err != nil {
		return Saved{}, err
	}
	return s, nil
}

// Encode returns the reference as it stands in the place of a body that is longer than
// journal.MaxBody. The row has the length of the body: one that is shorter than that is a reference.
func (r Ref) Encode() []byte { return appendRef([]byte{version}, r) }

// ParseRef returns the reference that [Ref.Encode] wrote. It returns [ErrDamaged] for any other bytes,
// and journal.ErrVersion for those of a later version.
func ParseRef(b []byte) (Ref, error) {
	d := decode("a reference", "", b)
	r := d.ref()
	d.want(r.Size > journal.MaxBody && r.Size <= engine.MaxObject, "content of %d bytes", r.Size)
	if err := d.end(); err != nil {
		return Ref{}, err
	}
	return r, nil
}
