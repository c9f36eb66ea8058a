package gc

import (
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// HistoryAges returns after what age records of the log called name may be archived and removed by
// p; 0 means never. The user has to make two decisions to let history go: not to keep it, and an
// age.
func HistoryAges(p ctxabi.Policy, name string) (archive, remove time.Duration) {
	keep := true
	switch name {
	case ctxabi.MessagesFile:
		keep = p.KeepMessages
	case ctxabi.EventsFile:
		keep = p.KeepEvents
	}
	if keep {
		return 0, 0
	}
	return p.ArchiveAfter, p.DeleteAfter
}
