package log

import (
	"bytes"
	"encoding/binary"
	"os"

	"github.com/ctxfs/ctxfs/internal/vfs"
)

// A slice of the index, or of the counts, is what the file has of some records, behind the header of
// the file. Slices of records that follow each other make up the file. Both are caches: a store that
// gets such a file checks it as one of its own.

// CacheSlices returns slices of the log's index and of its counts for the records [first, last], from
// 1 on. One that cannot be had is nil: whoever lacks it reads the records. CacheSlices returns the
// errors of Index.
func (l *Log) CacheSlices(first, last int) (index, counts []byte, err error) {
	ix, err := l.Index()
	if err != nil || first < 1 || first > last || last > ix.Len() {
		return nil, nil, err
	}
	if err := l.saveIndex(); err != nil {
		return nil, nil, err
	}
	l.dir.Root.Move.RLock()
	defer l.dir.Root.Move.RUnlock()
	return l.indexSlice(first, last), l.countsSlice(first, last), nil
}

// indexSlice returns the slice of the file as it is; nil if the file does not have these rows.
func (l *Log) indexSlice(first, last int) []byte {
	f, size, err := vfs.OpenRegular(l.dir.Root.FS, l.dir.Path(IndexFile(l.name)), os.O_RDONLY)
	if err != nil {
		return nil
	}
	defer f.Close()
	from, to := indexSize(first-1), indexSize(last)
	b := make([]byte, indexHeader, indexHeader+to-from)
	if size < to || !isIndex(f, size) || vfs.ReadFull(f, b, 0) != nil {
		return nil
	}
	b = b[:cap(b)]
	if vfs.ReadFull(f, b[indexHeader:], from) != nil {
		return nil
	}
	return b
}

// countsSlice returns the slice of the file as it is; nil if there is none.
func (l *Log) countsSlice(first, last int) []byte {
	raw, err := vfs.ReadFile(l.dir.Root.FS, l.dir.Path(TokensFile(l.name)))
	if err != nil || len(raw) < tokensHeader || !bytes.HasPrefix(raw, []byte(tokensMagic)) {
		return nil
	}
	b := bytes.Clone(raw[:tokensHeader])
	for raw = raw[tokensHeader:]; len(raw) >= tokensRow; raw = raw[tokensRow:] {
		if line := int64(binary.LittleEndian.Uint32(raw)); line >= int64(first) && line <= int64(last) {
			b = append(b, raw[:tokensRow]...)
		}
	}
	return b
}

// JoinIndex returns the index file of the records 1 to n of which index is made up, or so many of them
// as it has, and a slice of the records behind those. ok is false if the slice does not follow.
func JoinIndex(index []byte, n int, slice []byte, records int) (joined []byte, ok bool) {
	if len(slice) < indexHeader || records < 1 || int64(len(slice)-indexHeader) != indexSize(n+records)-indexSize(n) {
		return index, false
	}
	if n == 0 {
		return bytes.Clone(slice), true
	}
	if int64(len(index)) != indexSize(n) || !bytes.Equal(index[:indexHeader], slice[:indexHeader]) {
		return index, false
	}
	return append(index, slice[indexHeader:]...), true
}

// JoinCounts returns counts, a file of them or nothing, with a slice behind it. ok is false if the slice
// is of another encoding, or none.
func JoinCounts(counts, slice []byte) (joined []byte, ok bool) {
	if len(slice) < tokensHeader || (len(slice)-tokensHeader)%tokensRow != 0 {
		return counts, false
	}
	if len(counts) == 0 {
		return bytes.Clone(slice), true
	}
	if !bytes.Equal(counts[:min(len(counts), tokensHeader)], slice[:tokensHeader]) {
		return counts, false
	}
	return append(counts, slice[tokensHeader:]...), true
}
