package log

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"io"
	"os"
	"slices"

	"github.com/ctxfs/ctxfs/internal/vfs"
)

func (x *logIndex) saveTokens() error {
	rel := TokensFile(x.log.name)
	if len(x.encoding) > tokensHeader-len(tokensMagic) {
		return nil // too long a name to be one
	}
	if _, err := x.log.dir.Root.FS.Stat(x.log.dir.Path(rel)); err != nil {
		x.recounted = true
	}
	var b []byte
	if x.recounted {
		b = make([]byte, tokensHeader)
		copy(b[copy(b, tokensMagic):], x.encoding)
	}
	for _, p := range x.fresh {
		b = binary.LittleEndian.AppendUint32(b, p.line)
		b = binary.LittleEndian.AppendUint32(b, uint32(p.tokens))
		b = binary.LittleEndian.AppendUint32(b, p.check(x.encoding))
	}
	return x.put(rel, b, x.recounted)
}

// loadTokens reads the counts on disk, once all rows are known.
func (x *logIndex) loadTokens() {
	l := x.log
	file, size, err := vfs.OpenRegular(l.dir.Root.FS, l.dir.Path(TokensFile(l.name)), os.O_RDONLY)
	if err != nil {
		return
	}
	defer file.Close()
	ok := false
	x.encoding, ok = x.readTokens(io.NewSectionReader(file, 0, size), func(p tokenPair) {
		x.tokens[(p.line-1)/chunkRows].swap(int(p.line-1)%chunkRows, p.tokens)
	})
	x.recounted = !ok
	if x.recounted {
		for line := 1; line <= x.n; line++ {
			if t := x.tokens[(line-1)/chunkRows].get((line - 1) % chunkRows); t != 0 {
				x.fresh = append(x.fresh, tokenPair{uint32(line), t, x.at(line).crc})
			}
		}
	}
}

// readTokens returns the counts of a file that fit the records. ok is false when it is of the first
// form or has others too: such a file is written anew.
func (x *logIndex) readTokens(in io.Reader, yield func(tokenPair)) (encoding string, ok bool) {
	var header [tokensHeader]byte
	_, err := io.ReadFull(in, header[:])
	first := bytes.HasPrefix(header[:], []byte(tokensMagic1))
	if err != nil || !first && !bytes.HasPrefix(header[:], []byte(tokensMagic)) {
		return "", false
	}
	encoding = string(bytes.TrimRight(header[len(tokensMagic):], "\x00"))
	ok = !first
	whole := eachCount(in, func(p tokenPair, check uint32) {
		if p.line < 1 || int64(p.line) > int64(x.n) {
			ok = false
			return
		}
		p.crc = x.at(int(p.line)).crc
		want := p.check(encoding)
		if first {
			want = p.crc
		}
		if check != want {
			ok = false
			return
		}
		yield(p)
	})
	return encoding, ok && whole // torn: what follows would not line up
}

// eachCount reads counts, some at a time, and yields these in the order of their lines, so that each
// row is read once; of a line in the order of the file. It returns whether the file ended behind a
// count.
func eachCount(in io.Reader, yield func(p tokenPair, check uint32)) (whole bool) {
	type count struct {
		tokenPair
		check uint32
	}
	byLine := func(a, b count) int { return cmp.Compare(a.line, b.line) }
	piece, counts := make([]byte, saveTokens*tokensRow), make([]count, 0, saveTokens)
	for {
		n, err := io.ReadFull(in, piece)
		counts = counts[:0]
		for b := piece[:n]; len(b) >= tokensRow; b = b[tokensRow:] {
			u32 := binary.LittleEndian.Uint32
			counts = append(counts, count{tokenPair{line: u32(b), tokens: int32(u32(b[4:]))}, u32(b[8:])})
		}
		if !slices.IsSortedFunc(counts, byLine) {
			slices.SortStableFunc(counts, byLine)
		}
		for _, c := range counts {
			yield(c.tokenPair, c.check)
		}
		if err != nil {
			return n%tokensRow == 0 && (err == io.EOF || err == io.ErrUnexpectedEOF)
		}
	}
}
