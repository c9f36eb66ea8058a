package fs

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// A store of 10,000 sessions took a third of a second for `cat status`, since they were counted at
// the lookup, at the open and at the stat that follows it. Each open counts: what is read is never
// old.
func TestStatusCountsSessionsOnceForWhoeverOpensIt(t *testing.T) {
	made := 0
	s := &statusSource{textSource: textSource{text: func() ([]byte, time.Time, error) {
		made++
		return make([]byte, 10+made), time.Now(), nil
	}}}
	n := newView(s)
	size := func() uint64 {
		var out fuse.AttrOut
		if errno := n.Getattr(context.Background(), nil, &out); errno != 0 {
			t.Fatal(errno)
		}
		return out.Size
	}
	if got := size(); got != 11 || made != 1 {
		t.Errorf("before it was opened: %d bytes, counted %d times", got, made)
	}
	for i := 2; i < 4; i++ {
		h, _, errno := n.Open(context.Background(), syscall.O_RDONLY)
		if data, ok := h.(bytesHandle); errno != 0 || !ok || len(data) != 10+i || made != i {
			t.Fatalf("open %d: %v, counted %d times", i, errno, made)
		}
	}
	s.opened.Load().at = time.Now().Add(time.Hour) // however slow this machine is
	if got := size(); got != 13 || made != 3 {
		t.Errorf("once opened: %d bytes, counted %d times", got, made)
	}
	s.opened.Load().at = time.Now().Add(-time.Hour)
	if got := size(); got != 14 || made != 4 {
		t.Errorf("long after: %d bytes, counted %d times", got, made)
	}
}
