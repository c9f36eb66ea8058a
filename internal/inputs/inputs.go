package inputs

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// OpenFile is [OpenRegular] for a file that a user names on the command line. It also opens the
// descriptors of this process (/dev/stdin, /dev/fd/3) and /dev/null, whatever their type. It
// returns an error for other special files and if it cannot open the file.
func OpenFile(name string) (*os.File, error) {
	if name == "/dev/stdin" || name == os.DevNull || strings.HasPrefix(name, "/dev/fd/") || strings.HasPrefix(name, "/proc/self/fd/") {
		return os.Open(name)
	}
	return OpenRegular(name)
}

// OpenRegular opens a regular file. It returns an error for any other type: opening a FIFO blocks
// until a writer appears, and a device may be endless.
func OpenRegular(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file; name a file, or pass what it holds on standard input", name)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ReadFile reads a file that it opens with [OpenFile]. It returns an error if it cannot open or
// read the file.
func ReadFile(name string) ([]byte, error) {
	f, err := OpenFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
