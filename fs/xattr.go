package fs

import (
	"bytes"
	"context"
	"sort"
	"strings"
	"syscall"
)

// xattrPrefix begins the names of the read-only attributes that ctxfs answers itself.
const xattrPrefix = "user.ctx."

// userXattr reports whether an attribute of this name may be stored with an ordinary file. Other
// namespaces would be set with the daemon's rights.
func userXattr(name string) bool {
	return strings.HasPrefix(name, "user.") && !strings.HasPrefix(name, xattrPrefix)
}

func mayChangeXattr(name string) syscall.Errno {
	switch {
	case strings.HasPrefix(name, xattrPrefix):
		return syscall.EPERM
	case !userXattr(name):
		return syscall.ENOTSUP
	}
	return 0
}

// filterUserXattrs returns those names of a NUL-terminated list that userXattr reports.
func filterUserXattrs(list []byte) []byte {
	var kept []byte
	for _, name := range bytes.SplitAfter(list, []byte{0}) {
		if userXattr(string(bytes.TrimSuffix(name, []byte{0}))) {
			kept = append(kept, name...)
		}
	}
	return kept
}

// putXattr answers a Getxattr or Listxattr. With ERANGE it returns the size that dest should have.
func putXattr(dest, value []byte) (uint32, syscall.Errno) {
	if len(dest) < len(value) {
		return uint32(len(value)), syscall.ERANGE
	}
	return uint32(copy(dest, value)), 0
}

// facts are the user.ctx.* attributes of a file by their last word. A value
// that is not known yet is "" and reads as ENODATA.
type facts map[string]func() string

func (f facts) Get(name string, dest []byte) (uint32, syscall.Errno) {
	if fn := f[strings.TrimPrefix(name, xattrPrefix)]; fn != nil && strings.HasPrefix(name, xattrPrefix) {
		if v := fn(); v != "" {
			return putXattr(dest, []byte(v))
		}
	}
	return 0, syscall.ENODATA
}

func (f facts) List(dest []byte) (uint32, syscall.Errno) {
	var names []string
	for k, fn := range f {
		if fn() != "" {
			names = append(names, xattrPrefix+k+"\x00")
		}
	}
	sort.Strings(names)
	return putXattr(dest, []byte(strings.Join(names, "")))
}

// noXattrs is for what ctxfs makes itself: nothing can be attached to it.
type noXattrs struct{}

func (noXattrs) Setxattr(ctx context.Context, name string, data []byte, flags uint32) syscall.Errno {
	if strings.HasPrefix(name, xattrPrefix) {
		return syscall.EPERM
	}
	return syscall.ENOTSUP
}

func (noXattrs) Removexattr(ctx context.Context, name string) syscall.Errno {
	if strings.HasPrefix(name, xattrPrefix) {
		return syscall.EPERM
	}
	return syscall.ENOTSUP
}
