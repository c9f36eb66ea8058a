package log

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path"
	"sync"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/archive"
)

// The index on disk is a header (a name, a fingerprint of the rules by which
// records are read and weighed) and chunks of 256 rows, in order, little endian.
// A chunk has a header, and a row a record:
//
//	offset u64 of the first record | u32 bytes of the longest record before it | sum u32 | check u32
//	len u32 | weight u32 | events u64 | crc u32 | back u16 | role u8 | flags u8 | check u16
//
// back is how many records back the call is that a result answers; 0 for none.
// events is, of a message, the length that events.jsonl had when it arrived; of
// a tool event, a hash of its call's id; of other events, 0.
// The check of a chunk is the CRC-32C of its number (u32) and the fields before it. From there it runs
// on over the chunk's rows: a row has its low half, as it is in front of it, and the next chunk has
// what it is behind the last row, sum (0 in the first chunk). The file is
// only appended to, and cut when the log turns out shorter. Token counts are a
// file of their own, appended to as they become known:
//
//	line u32 | tokens u32 | check u32
//
// check is the CRC-32C of the encoding's name, of line and tokens, and of the record's
// own CRC-32C (in files of the first form that alone). A count whose check does
// not fit is ignored. Both are caches: what does not fit is dropped and made again.
const (
	indexMagic   = "ctxfs index 3\n"
	indexMagic2  = "ctxfs index 2\n"
	tokensMagic  = "ctxfs tokens 2\n"
	tokensMagic1 = "ctxfs tokens 1\n"
	indexHeader  = 32
	chunkHeader  = 20
	indexRow     = 26
	indexChunk   = chunkHeader + chunkRows*indexRow
	tokensHeader = 96
	tokensRow    = 12

	saveRows   = 1024 // rows that are written at once, unless the log is closed before
	saveMost   = 8192 // at most
	saveTokens = 4096
)

type tokenPair struct {
	line   uint32
	tokens int32
	crc    uint32 // of the record
}

// check is what the file has behind line and tokens.
func (p tokenPair) check(encoding string) uint32 {
	var b [12]byte
	binary.LittleEndian.PutUint32(b[:], p.line)
	binary.LittleEndian.PutUint32(b[4:], uint32(p.tokens))
	binary.LittleEndian.PutUint32(b[8:], p.crc)
	return crc32.Update(crc32.Checksum([]byte(encoding), vfs.Castagnoli), vfs.Castagnoli, b[:])
}

// IndexFile names the file of a log's index, relative to the session.
func IndexFile(log string) string {
	if log == ctxabi.MessagesFile {
		return ctxabi.InternalDir + "/index"
	}
	return ctxabi.InternalDir + "/index.events"
}

// TokensFile names the file of a log's counts, relative to the session.
func TokensFile(log string) string {
	if log == ctxabi.MessagesFile {
		return ctxabi.InternalDir + "/tokens"
	}
	return ctxabi.InternalDir + "/tokens.events"
}

func newIndexHeader() []byte {
	b := make([]byte, indexHeader)
	copy(b, indexMagic)
	binary.LittleEndian.PutUint32(b[16:], fingerprint())
	return b
}

// fingerprint changes when a release reads or weighs records in another way:
// the rows of an older one are then built anew. It is what the rules make of
// some records.
var fingerprint = sync.OnceValue(func() uint32 {
	h := crc32.New(vfs.Castagnoli)
	for _, line := range probes {
		s := scanMessage([]byte(line))
		fmt.Fprint(h, s.role, s.flags, s.weight, s.calls, s.answers, scanEvent([]byte(line)).weight, "\n")
	}
	return h.Sum32()
})

var probes = []string{
	`{"role":"user","content":"Please make the token refresh retry; see auth/refresh.go:88, thanks a lot.\n\n\tif err != nil {\n\t\treturn fmt.Errorf(\"refresh: %w\", err)\n\t}\n"}`,
	`{"role":"assistant","content":[{"type":"text","text":"naïve Привет 你好 こんにちは 안녕 สวัสดี مرحبا 🙂"},{"type":"tool_use","id":"t","name":"run_tests","input":{"path":"./...","n":12345}},{"type":"image"}]}`,
	`{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"q\":1}"}}]}`,
	`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"QmFzZTY0IGJ5dGVz 0x1f3a 3.14159 ========"}]}`,
	`{"role":"tool","tool_call_id":"c","name":"f","content":"ok  \tgithub.com/x/y\t0.012s\nTestHTTPServerXyz   1 2 3"}`,
	`{"role":"user","content":5}`,
	`{"type":"usage","tokens":81}`,
	`{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}`,
}

// lastFits compares the last row with the log: rows in front of it were written earlier.
func (x *logIndex) lastFits(f *logFiles) bool {
	r := x.at(x.n)
	b := make([]byte, int64(r.len)+1)
	err := vfs.ReadFull(f.data, b, r.off)
	var bad *archive.DamageError
	if errors.As(err, &bad) {
		return true // nobody can tell any more; the other rows may be all there is
	}
	if err != nil || b[r.len] != '\n' {
		return false
	}
	return r.len > ctxabi.MaxRecord || crc32.Checksum(b[:r.len], vfs.Castagnoli) == r.crc
}

func (x *logIndex) forgetRows() {
	x.rows, x.tokens, x.n, x.size = rowTable{}, nil, 0, 0
	x.saved, x.running, x.longest = 0, 0, 0
	x.bytes.Store(0)
	x.calls, x.tools, x.merge, x.guessed = callWindow{}, nil, merge{}, false
}

// cutFile shortens the file to n rows.
func (x *logIndex) cutFile(n int) error {
	f, err := x.open(IndexFile(x.log.name))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(indexSize(n)); err != nil {
		return err
	}
	// Or the rows could be back after a loss of power, in front of newer ones.
	return f.Sync()
}

func (x *logIndex) open(rel string) (vfs.File, error) {
	return x.log.dir.Root.FS.OpenFile(x.log.dir.Path(rel), os.O_RDWR|os.O_APPEND, 0)
}

// trim cuts rows off that reach beyond a log of end bytes. It runs when the
// log is opened, before anything is appended: rows of records that were lost
// with the power would otherwise describe the ones that take their place.
func (x *logIndex) trim(end int64) error {
	err := x.tryTrim(end)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if errors.Is(err, ctxabi.ErrNoFiles) {
		return err
	}
	file := x.log.dir.Path(IndexFile(x.log.name))
	if err := x.log.dir.Root.FS.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return x.log.dir.Root.FS.SyncDir(path.Dir(file))
}

func (x *logIndex) tryTrim(end int64) error {
	f, err := x.open(IndexFile(x.log.name))
	if err != nil {
		return err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	n := 0
	for k := (rowsIn(fi.Size()) - 1) / chunkRows; k >= 0 && n == 0; k-- {
		c, err := readIndexChunk(f, fi.Size(), k)
		if err != nil {
			return err
		}
		c.rows(func(_ int, r row) bool {
			if r.end() <= end {
				n = k*chunkRows + c.n + 1
			}
			return r.end() <= end
		})
	}
	if want := max(indexSize(n), indexHeader); fi.Size() > want {
		if err := f.Truncate(want); err != nil {
			return err
		}
		return f.Sync()
	}
	return nil
}

// save writes what is not on disk yet.
func (x *logIndex) save() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.saveLocked()
	return nil
}

// saveLocked writes rows and counts out. A failure costs a rebuild later, no more.
func (x *logIndex) saveLocked() {
	if !x.loaded || x.guessed || x.log.dir.Root.ReadOnly {
		return
	}
	if x.rows.file != nil && x.rows.file.odd.Swap(false) {
		x.saved, x.running = 0, 0 // written anew as a whole
	}
	if x.saved < x.n && x.saveRows() != nil {
		x.saved, x.running = 0, 0
	}
	if len(x.fresh) > 0 && x.saveTokens() == nil {
		x.fresh, x.recounted = nil, false
	}
}

func (x *logIndex) saveRows() error {
	for x.saved < x.n {
		upTo := min(x.n, x.saved+saveMost)
		b := make([]byte, 0, indexSize(upTo)-indexSize(x.saved)+indexHeader)
		if x.saved == 0 {
			x.running = 0
			b = append(b, newIndexHeader()...)
		}
		running := x.running
		for line := x.saved + 1; line <= upTo; line++ {
			if (line-1)%chunkRows == 0 {
				c := x.rows.chunk((line - 1) / chunkRows)
				b, running = appendChunkHeader(b, (line-1)/chunkRows, c.offs[0], c.longest, running)
			}
			b, running = appendIndexRow(b, x.at(line), line, running)
		}
		if err := x.put(IndexFile(x.log.name), b, x.saved == 0); err != nil {
			return err
		}
		x.saved, x.running = upTo, running
	}
	return nil
}

// put appends to a cache, or replaces it.
func (x *logIndex) put(rel string, b []byte, anew bool) error {
	session := x.log.dir
	session.Root.Move.RLock()
	defer session.Root.Move.RUnlock()
	if anew {
		// Durable, or an older file could be back after a loss of power, with rows
		// of records that others have taken the place of.
		return session.Replace(rel, b, true)
	}
	f, err := x.open(rel)
	if err != nil {
		return err
	}
	defer f.Close()
	return vfs.WriteFull(f, b)
}

// dropLocked forgets what is in memory; what was not saved is made again.
func (x *logIndex) dropLocked() {
	x.forgetRows()
	x.loaded, x.snapshot = false, nil
	x.encoding, x.fresh, x.recounted = "", nil, false
}
