package ui

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
)

// noteHead begins the chunk of a PNG that holds what its page said: a zTXt of this name.
const noteHead = "ctxfs page\x00\x00"

// chunkFrame is how many bytes a chunk of a PNG has beside its data: its size, its type, its checksum.
const chunkFrame = 12

func digest(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

func encode(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// withNote returns a PNG that carries the digest of its pixels and what its page said.
func withNote(t testing.TB, m image.Image, said string) []byte {
	t.Helper()
	var text bytes.Buffer
	w := zlib.NewWriter(&text)
	fmt.Fprintf(w, "%s\n%s", digest(rgba(m).Pix), said)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return withChunk(encode(t, m), noteHead+text.String())
}

// withChunk puts a zTXt before the last chunk of a PNG, which is empty.
func withChunk(b []byte, data string) []byte {
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	chunk = append(chunk, "zTXt"+data...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:]))
	return slices.Insert(b, len(b)-chunkFrame, chunk...)
}

// chunk returns the data of the note of a PNG.
func chunk(b []byte) (string, error) {
	for at := 8; at+chunkFrame <= len(b); {
		n := int(binary.BigEndian.Uint32(b[at:]))
		if n > len(b)-at-chunkFrame {
			break
		}
		if data := string(b[at+8 : at+8+n]); string(b[at+4:at+8]) == "zTXt" && strings.HasPrefix(data, noteHead) {
			return data, nil
		}
		at += n + chunkFrame
	}
	return "", errors.New("it carries no word of the page that it shows")
}

// note returns what the page of a picture said when it was taken, and the digest of the pixels.
func note(b []byte) (said, pixels string, err error) {
	data, err := chunk(b)
	if err != nil {
		return "", "", err
	}
	r, err := zlib.NewReader(strings.NewReader(data[len(noteHead):]))
	if err != nil {
		return "", "", err
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return "", "", err
	}
	pixels, said, _ = strings.Cut(string(text), "\n")
	return said, pixels, nil
}

// withPixelsOf returns another image with the note of a picture.
func withPixelsOf(picture []byte, m image.Image) ([]byte, error) {
	data, err := chunk(picture)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		return nil, err
	}
	return withChunk(b.Bytes(), data), nil
}

// fewColours returns an image in its 256 most frequent colours, which is a third of the size and looks the same.
func fewColours(m image.Image) image.Image {
	from := rgba(m)
	count := map[color.RGBA]int{}
	for y := range from.Rect.Dy() {
		for x := range from.Rect.Dx() {
			count[from.RGBAAt(x, y)]++
		}
	}
	all := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return slices.Compare([]uint8{a.R, a.G, a.B}, []uint8{b.R, b.G, b.B})
	})
	var colours color.Palette
	for _, c := range all[:min(256, len(all))] {
		colours = append(colours, c)
	}
	nearest := map[color.RGBA]uint8{}
	to := image.NewPaletted(from.Rect, colours)
	for y := range from.Rect.Dy() {
		for x := range from.Rect.Dx() {
			c := from.RGBAAt(x, y)
			i, ok := nearest[c]
			if !ok {
				i = uint8(colours.Index(c))
				nearest[c] = i
			}
			to.SetColorIndex(x, y, i)
		}
	}
	return to
}
