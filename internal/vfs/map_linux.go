package vfs

import (
	"errors"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Mapping is bytes of a file that stand in memory as the kernel has them. It is for system calls
// that are handed its bytes: one fails with EFAULT where the disk cannot give a page, or where the
// file was cut, but a process that looks at such a byte itself is killed.
type Mapping struct{ bytes []byte }

// coherent lists the file systems of which a mapping always shows what was written to the file.
var coherent = []int64{unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC}

// Map maps length bytes of f from off on, whether the file has them yet or not. Both are multiples
// of [PageSize]. It returns errors.ErrUnsupported where a file cannot be mapped, or where a mapping
// need not show later writes to the file, and otherwise the error of the system.
func Map(f File, off int64, length int) (Mapping, error) {
	o, ok := f.(osFile)
	if !ok {
		return Mapping{}, errors.ErrUnsupported
	}
	conn, err := o.SyscallConn()
	if err != nil {
		return Mapping{}, err
	}
	var m Mapping
	var failed error
	err = conn.Control(func(fd uintptr) {
		var on unix.Statfs_t
		if failed = unix.Fstatfs(int(fd), &on); failed != nil {
			return
		}
		if !slices.Contains(coherent, int64(on.Type)) {
			failed = errors.ErrUnsupported
			return
		}
		m.bytes, failed = unix.Mmap(int(fd), off, length, unix.PROT_READ, unix.MAP_SHARED)
	})
	return m, errors.Join(err, failed)
}

// PageSize returns the unit of mappings.
func PageSize() int { return os.Getpagesize() }

// Slice returns the bytes from one place of the mapping to another, for a system call.
func (m Mapping) Slice(from, to int) []byte { return m.bytes[from:to:to] }

// InMemory reports whether the bytes from one place to another are in memory now, so that no disk
// is needed for them.
func (m Mapping) InMemory(from, to int) bool {
	page := PageSize()
	from -= from % page
	pages := make([]byte, (to-from+page-1)/page)
	if len(pages) == 0 {
		return true
	}
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&m.bytes[from])), uintptr(to-from), uintptr(unsafe.Pointer(&pages[0])))
	return errno == 0 && !slices.ContainsFunc(pages, func(p byte) bool { return p&1 == 0 })
}

// Unmap ends the mapping. Nobody uses its bytes any more.
func (m Mapping) Unmap() { unix.Munmap(m.bytes) }
