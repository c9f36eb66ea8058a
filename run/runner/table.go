package runner

// What the client remembers: bounded, the least recently used goes first.
const (
	maxFiles = 4096
	maxBytes = 64 << 20
)

// fileKey is a file as one user sees it, read up to a size; or what else a
// reader is asked, by the words of the request.
type fileKey struct {
	kind     kind
	uid, gid uint32
	max      int64
	path     string
}

// file is what is known about one file.
type file struct {
	key  fileKey
	call *call // under way, or nil
	last content
	used uint64
}

// content is the outcome of a read.
type content struct {
	seen    bool // something was read, if only that the file does not exist
	exists  bool
	settled bool // id tells whether it is still current
	id      identity
	data    []byte
	reason  string
}

// fileTable holds files by key. Its owner locks.
type fileTable struct {
	byKey map[fileKey]*file
	bytes int
	clock uint64
}

func (t *fileTable) init() { t.byKey = make(map[fileKey]*file) }

func (t *fileTable) get(k fileKey) *file {
	t.clock++
	f := t.byKey[k]
	if f == nil {
		f = &file{key: k}
		t.byKey[k] = f
	}
	f.used = t.clock
	t.shrink(f)
	return f
}

// keep remembers what a read of f came to.
func (t *fileTable) keep(f *file, c content) {
	if t.byKey[f.key] != f {
		f.last = c
		return
	}
	t.bytes += len(c.data) - len(f.last.data)
	f.last = c
	t.shrink(f)
}

// shrink forgets files until the bounds hold; never one that is being read, nor except.
func (t *fileTable) shrink(except *file) {
	for len(t.byKey) > maxFiles || t.bytes > maxBytes {
		var oldest *file
		for _, f := range t.byKey {
			if f != except && f.call == nil && (oldest == nil || f.used < oldest.used) {
				oldest = f
			}
		}
		if oldest == nil {
			return
		}
		delete(t.byKey, oldest.key)
		t.bytes -= len(oldest.last.data)
	}
}
