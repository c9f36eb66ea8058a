package source

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/session"
)

// maxHeld bounds the bytes of the files of a shared space that one run is given as they were looked at.
const maxHeld = 32 << 20

// pin is what was found under a name that the commands of a source may run, in a shared space. There any member may put
// another file in its place, after the scan and before the run.
type pin struct {
	rel  string // in the agent's home
	kind HeldKind
	sum  [sha256.Size]byte // of a HeldCopy
}

// pin notes what the commands of the source at find under the name rel.
func (t *trust) pin(at int, rel string, f *stocked) {
	p := pin{rel: path.Clean(rel), kind: HeldNone}
	switch {
	case !within(p.rel):
		return
	case f.reason == reasonLink && f.sign.exists(): // check takes none but the owner's
		p.kind = HeldOwn
	case !f.sign.regular():
	case t.isOwn(f):
		p.kind = HeldOwn
	default:
		p.kind, p.sum = HeldCopy, f.sum
	}
	if t.pinned == nil {
		t.pinned = map[int][]pin{}
	}
	t.pinned[at] = append(t.pinned[at], p)
}

// Holder returns the files of a shared space as the commands of the source at find them, to be called when the run
// begins, and the outputs of these commands. It fails where a file is not what it was when it was looked at.
func (gr *Gatherer) Holder(x *session.Session, g *Gathered, at int, outputs []string) func() (root string, held []Held, err error) {
	pins := g.trust.pinned[at]
	if len(pins) == 0 {
		return nil
	}
	return func() (string, []Held, error) {
		h, _, err := gr.openHome(x, nil)
		if err != nil {
			return "", nil, err
		}
		defer h.close()
		if h.ref != g.Ref {
			return "", nil, errors.New("the session was moved")
		}
		size := 0
		held := make([]Held, len(pins))
		for i, p := range pins {
			held[i] = Held{Path: path.Join(h.ref.AgentHome(), p.rel), Kind: p.kind}
			if p.kind != HeldCopy {
				continue
			}
			data, mode, err := h.bytes(p.rel)
			if err != nil || sha256.Sum256(data) != p.sum {
				return "", nil, fmt.Errorf("%s was changed after it was looked at", p.rel)
			}
			if size += len(data); size > maxHeld {
				return "", nil, fmt.Errorf("the files that it names are larger than %d bytes", maxHeld)
			}
			held[i].Data, held[i].Exec = data, mode&0o111 != 0
		}
		root := cmp.Or(gr.Config.Mountpoint, x.Store().Dir())
		for _, out := range outputs {
			rel, inside := strings.CutPrefix(out, path.Join(root, h.ref.AgentHome())+"/")
			named := slices.ContainsFunc(pins, func(p pin) bool { return p.rel == rel })
			if inside && !named && within(rel) {
				held = append(held, Held{Path: path.Join(h.ref.AgentHome(), rel), Kind: HeldOutput})
			}
		}
		return root, held, nil
	}
}

// bytes reads a file of the home from the disk, whatever it holds.
func (h *home) bytes(rel string) (data []byte, mode uint32, err error) {
	fd, err := h.open(rel, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY)
	if err != nil {
		return nil, 0, err
	}
	f := os.NewFile(uintptr(fd), path.Base(rel))
	defer f.Close()
	sign := signOf(fd)
	if !sign.regular() {
		return nil, 0, errors.New("not a regular file")
	}
	var b bytes.Buffer
	_, err = io.Copy(&b, io.LimitReader(f, maxFile+1))
	return b.Bytes(), sign.mode, err
}
