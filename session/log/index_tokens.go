package log

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"

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
	whole := eachRow(in, tokensRow, func(b []byte) bool {
		p := tokenPair{line: binary.LittleEndian.Uint32(b), tokens: int32(binary.LittleEndian.Uint32(b[4:]))}
		if p.line < 1 || int64(p.line) > int64(x.n) {
			ok = false
			return true
		}
		p.crc = x.at(int(p.line)).crc
		check := p.check(encoding)
		if first {
			check = p.crc
		}
		if check != binary.LittleEndian.Uint32(b[8:]) {
			ok = false
			return true
		}
		yield(p)
		return true
	})
	return encoding, ok && whole // torn: what follows would not line up
}
