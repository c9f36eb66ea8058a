package gc

import (
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// HistoryAges says after what age records of the log called name may be
// archived and deleted by p; 0 means never. It takes two decisions of the user
// to let go of history: not to keep it, and an age.
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
