package archive

import (
	"errors"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/disk"
)

// Source has sealed parts whose files are not in the store. It is safe for concurrent use.
type Source interface {
	// OpenPart opens the part e of a log of the session in dir to be read: the bytes and the size are
	// those that its file would have. It does not wait for a network; reads of what it returns may. It
	// returns fs.ErrNotExist if it does not know the part, and the error of the disk. A read returns
	// an error that is [ErrAway] if the bytes cannot be had now.
	OpenPart(dir *disk.Dir, log string, e *Entry) (vfs.File, error)
}

// ErrAway is the error of bytes of a sealed part that lie elsewhere and cannot be fetched now. It is no
// damage of the part: the same read may succeed later.
var ErrAway = errors.New("these bytes are not on this host and cannot be fetched now")

// passes reports whether err is no damage of a part, but a failure that may be over at the next read.
func passes(err error) bool {
	return errors.Is(err, ctxabi.ErrNoFiles) || errors.Is(err, ctxabi.ErrNotFound) || errors.Is(err, ErrAway)
}

// elsewhere opens a part that has no file from the source of the log. missing is the error of the
// disk that has none. Without a source elsewhere returns [ErrAway] if the session knows where the part
// lies, else missing.
func (p *Part) elsewhere(missing error) (vfs.File, error) {
	if p.at.Source != nil {
		return p.at.Source.OpenPart(p.at.Dir, p.at.Log, &p.Entry)
	}
	if _, err := p.at.Dir.Root.FS.Stat(p.at.Dir.Path(AwayRow(p.at.Log, p.Number))); err == nil {
		return nil, ErrAway
	}
	return nil, missing
}
