package transcript

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// OpenFile is [OpenRegular] for a file that a user names on a command line: descriptors of this process
// (/dev/stdin, /dev/fd/3) and /dev/null are opened whatever they are. It returns the errors of that.
func OpenFile(name string) (*os.File, error) {
	if name == "/dev/stdin" || name == os.DevNull || strings.HasPrefix(name, "/dev/fd/") || strings.HasPrefix(name, "/proc/self/fd/") {
		return os.Open(name)
	}
	return OpenRegular(name)
}

// OpenRegular opens a regular file. It returns an error for another kind of file: a FIFO would make the caller
// wait for a writer, and a device may never end.
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

// ReadFile reads a file as [OpenFile] opens it. It returns the errors of that and of the read.
func ReadFile(name string) ([]byte, error) {
	f, err := OpenFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
