package journal

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// Version is the version of entries.
const Version = 1

// Errors of Open.
var (
	ErrVersion = errors.New("the journal was written by a newer ctxfs; update this one")
	ErrGap     = errors.New("the entry is not the next one of the journal")
	ErrChain   = errors.New("the entry does not continue the journal as it was read")
	ErrDamaged = errors.New("the entry is not in the form of entries")
)

// Names of headers.
const (
	versionHeader = "Ctx-V"
	numberHeader  = "Ctx-I"
	chainHeader   = "Ctx-Chain"
	rowsHeader    = "Ctx-Rows"
	hostHeader    = "Ctx-Host"
)

// Entry is what stands in one place of a journal. An entry without rows is a fence: it takes a place so
// that no other can.
type Entry struct {
	I      uint64
	Host   string
	Format int // of the contents of rows of logs
	Rows   []Row
}

// Seal returns the header and the payload of the entry at a position, and the position behind it. It
// returns engine.ErrTooLarge if it has too many or too long rows, and engine.ErrInvalid if the host is no
// plain name or the format no number above 0.
func Seal(at Position, host string, format int, rows []Row) (engine.Header, []byte, Position, error) {
	if host == "" || len(host) > 64 || strings.Trim(host, hostBytes) != "" || format <= 0 {
		return nil, nil, at, fmt.Errorf("%w: an entry of host %q with rows of format %d", engine.ErrInvalid, host, format)
	}
	payload, length, err := appendRows(rows)
	if err != nil {
		return nil, nil, at, err
	}
	next := at.next(payload, length, format, host)
	return engine.Header{
		versionHeader: strconv.Itoa(Version),
		numberHeader:  strconv.FormatUint(at.I, 10),
		chainHeader:   hex.EncodeToString(next.Chain[:]),
		rowsHeader:    strconv.Itoa(length) + "/" + strconv.Itoa(format),
		hostHeader:    host,
	}, payload, next, nil
}

const hostBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"

// Open returns the entry that an engine has at a position, and the position behind it. The rows are parts
// of the payload. It returns ErrGap if the entry has another number, ErrChain if it does not continue what
// the position stands for, ErrVersion if it is of a later version, and ErrDamaged if it has not the form
// of an entry.
func Open(at Position, from engine.Entry) (Entry, Position, error) {
	fail := func(err error) (Entry, Position, error) {
		return Entry{}, at, fmt.Errorf("entry at sequence %d: %w", from.Seq, err)
	}
	version, err := canonical(from.Header[versionHeader])
	if err == nil && version > Version {
		return fail(fmt.Errorf("%w: version %d", ErrVersion, version))
	}
	if err != nil || version != Version {
		return fail(fmt.Errorf("%w: version %q", ErrDamaged, from.Header[versionHeader]))
	}
	i, err := canonical(from.Header[numberHeader])
	if err != nil {
		return fail(err)
	}
	if i != at.I {
		return fail(fmt.Errorf("%w: %d instead of %d", ErrGap, i, at.I))
	}
	before, after, _ := strings.Cut(from.Header[rowsHeader], "/")
	length, err := canonical(before)
	format, bad := canonical(after)
	if err = errors.Join(err, bad); err != nil || length > uint64(len(from.Payload)) || format == 0 || format > 1<<30 {
		return fail(fmt.Errorf("%w: rows %q in %d bytes", ErrDamaged, from.Header[rowsHeader], len(from.Payload)))
	}
	host := from.Header[hostHeader]
	next := at.next(from.Payload, int(length), int(format), host)
	if from.Header[chainHeader] != hex.EncodeToString(next.Chain[:]) {
		return fail(ErrChain)
	}
	if host == "" || len(host) > 64 || strings.Trim(host, hostBytes) != "" {
		return fail(fmt.Errorf("%w: host %q", ErrDamaged, host))
	}
	rows, err := parseRows(from.Payload, int(length))
	if err != nil {
		return fail(err)
	}
	return Entry{I: i, Host: host, Format: int(format), Rows: rows}, next, nil
}

// Peek returns an entry without a check that it continues the one before. It is for who has lost what
// stood before; nothing of it counts until Open returns the same. It returns ErrVersion if the entry is of a
// later version, and ErrDamaged if it has not the form of an entry.
func Peek(from engine.Entry) (Entry, error) {
	version, err := canonical(from.Header[versionHeader])
	if err == nil && version > Version {
		return Entry{}, fmt.Errorf("%w: version %d", ErrVersion, version)
	}
	i, bad := canonical(from.Header[numberHeader])
	before, after, _ := strings.Cut(from.Header[rowsHeader], "/")
	length, bad2 := canonical(before)
	format, bad3 := canonical(after)
	if err = errors.Join(err, bad, bad2, bad3); err != nil || version != Version || length > uint64(len(from.Payload)) || format == 0 || format > 1<<30 {
		return Entry{}, fmt.Errorf("%w: no header of an entry", ErrDamaged)
	}
	rows, err := parseRows(from.Payload, int(length))
	if err != nil {
		return Entry{}, err
	}
	return Entry{I: i, Host: from.Header[hostHeader], Format: int(format), Rows: rows}, nil
}

// Behind returns the position behind an entry as the entry itself names it, unchecked: for who does not know
// what stood before, or cannot trust it. It returns the errors of Peek.
func Behind(from engine.Entry) (Position, error) {
	e, err := Peek(from)
	if err != nil {
		return Position{}, err
	}
	p := Position{I: e.I + 1}
	if n, err := hex.Decode(p.Chain[:], []byte(from.Header[chainHeader])); err != nil || n != len(p.Chain) {
		return Position{}, fmt.Errorf("%w: chain %q", ErrDamaged, from.Header[chainHeader])
	}
	return p, nil
}

// canonical reads a number in decimal as Seal writes it, or returns ErrDamaged.
func canonical(s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || strconv.FormatUint(n, 10) != s {
		return 0, fmt.Errorf("%w: %q is no number", ErrDamaged, s)
	}
	return n, nil
}
