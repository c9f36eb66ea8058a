package archive

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// ReadPlain returns what the log in a file holds, with the sealed parts that lie beside it: as
// zstdcat and cat do, without opening a store. A file that is no log, or has no parts, is read as
// it is. It returns the error of a file that cannot be read or inflated.
func ReadPlain(file string) ([]byte, error) {
	tail, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	var numbers []int
	for _, e := range entries {
		if log, n, ok := ParsePartName(e.Name()); ok && log == filepath.Base(file) {
			numbers = append(numbers, n)
		}
	}
	if len(numbers) == 0 {
		return tail, nil
	}
	slices.Sort(numbers)
	d, err := zstd.NewReader(nil)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var all bytes.Buffer
	for _, n := range numbers {
		name := filepath.Join(filepath.Dir(file), PartName(filepath.Base(file), n))
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		if err = d.Reset(f); err == nil {
			_, err = io.Copy(&all, d)
		}
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	all.Write(tail)
	return all.Bytes(), nil
}
