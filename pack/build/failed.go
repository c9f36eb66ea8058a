package build

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/session"
)

// FailureReport returns what pack.report.md of x holds while there is no pack, because err came of the attempt to make one. ok is false
// for an error that is of the moment, or of the disk: then the file cannot be read either.
func (b *Builder) FailureReport(x *session.Session, err error) (page []byte, ok bool) {
	var e *ctxabi.Error
	if !errors.As(err, &e) || !errors.Is(err, ctxabi.ErrNoData) && !errors.Is(err, ctxabi.ErrOverBudget) {
		return nil, false
	}
	ref := x.Ref()
	var w strings.Builder
	fmt.Fprintf(&w, "# Pack of %s (agent %s)\n\nThere is no pack: %s.\n\n%s\n\n", ref.Session, ref.Agent, e.Kind, record.OneLine(e.Why))
	fmt.Fprintf(&w, "Until this is corrected, all other files of the pack fail to open. %s has the reason, too, and those of earlier failures.\n", ctxabi.ErrorsFile)
	page, err = b.Redacted(x, []byte(w.String()))
	return page, err == nil
}
