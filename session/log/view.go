package log

import "github.com/ctxfs/ctxfs/session/archive"

// View is committed bytes of a log that nothing has copied. They are for a system call alone: a
// process that looks at them itself is killed where the disk fails or somebody cuts the file.
type View struct {
	*archive.View
	log *Log
}

// View returns the committed bytes from off on, at most n, as ReadAt reads them, to be released. ok is
// false where ReadAt has to be used, see [archive.Data.View]; whatever is wrong, it has the error.
func (l *Log) View(off int64, n int) (v View, ok bool) {
	if n < archive.ViewLeast {
		return View{}, false
	}
	f, err := l.acquire()
	if err != nil {
		return View{}, false
	}
	if rest := l.length.Load() - off; off >= 0 && rest > 0 {
		v = View{f.data.View(off, int(min(int64(n), rest))), l}
	}
	if v.View == nil {
		l.release()
		return View{}, false
	}
	return v, true
}

// Release ends the use of the view's bytes. It is called once.
func (v View) Release() {
	v.View.Release()
	v.log.release()
}
