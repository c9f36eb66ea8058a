package session

import (
	"encoding/hex"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/log"
)

// Head identifies the content of a log at one moment. The chain alone proves that no byte before its
// end was changed. A head that is stored elsewhere also proves that the end was not cut off.
type Head struct {
	Ref   ctxabi.Ref
	Log   string // its name
	Bytes int64
	Chain string // hex
}

// String returns a line in the form of sha256sum: the chain, the number of bytes, the log's path.
func (h Head) String() string {
	return fmt.Sprintf("%s  %d  %s", h.Chain, h.Bytes, path.Join(h.Ref.Path(), h.Log))
}

// ParseHead reads what [Head.String] wrote. It returns ctxabi.ErrMalformed for another line.
func ParseHead(line string) (h Head, err error) {
	f := strings.Fields(line)
	bad := func(why string) (Head, error) {
		return Head{}, ctxabi.E("parse", "", ctxabi.ErrMalformed, "%q is not a head (%s); expected <64 hex digits>  <bytes>  <path of a log>", line, why)
	}
	if len(f) != 3 {
		return bad(fmt.Sprintf("it has %d fields", len(f)))
	}
	if b, err := hex.DecodeString(f[0]); err != nil || len(b) != len(arrival.Hash{}) {
		return bad("bad chain value")
	}
	h.Chain = strings.ToLower(f[0])
	if h.Bytes, err = strconv.ParseInt(f[1], 10, 64); err != nil || h.Bytes < 0 {
		return bad("bad number of bytes")
	}
	dir, log := path.Split(f[2])
	if h.Log = log; log != ctxabi.MessagesFile && log != ctxabi.EventsFile {
		return bad("it names no log")
	}
	if h.Ref, err = ctxabi.ParseRef(dir); err != nil {
		return bad("it names no session")
	}
	return h, nil
}

// Heads returns those of both logs as they are now. It returns the error of a log that cannot be
// opened or read.
func (x *Session) Heads() ([]Head, error) {
	var heads []Head
	for _, l := range []*log.Log{&x.messages, &x.events} {
		size := l.Len() // what comes meanwhile stands in the next one
		chain, err := l.HeadAt(size)
		if err != nil {
			return nil, err
		}
		heads = append(heads, Head{x.Ref(), l.Name(), size, chain})
	}
	return heads, nil
}
