package fs

import "testing"

// A file is open for as long as one of its handles is, and a session while any file of it is.
func TestOpenFilesAreCounted(t *testing.T) {
	var o openFiles
	log, pack, other := openFile{"s1", "messages.jsonl"}, openFile{"s1", "context/pack.md"}, openFile{"s2", "messages.jsonl"}
	want := func(session, rel string, n int) {
		t.Helper()
		if got := o.Open(session, rel); got != n {
			t.Errorf("%d handles are open on %q of %s, want %d", got, rel, session, n)
		}
	}
	for handle, f := range []openFile{1: log, 2: log, 3: pack, 4: other, 5: {"", "x"}} {
		o.add(uint64(handle), f)
	}
	o.add(0, log) // a handle without a number is not closed by one
	want("s1", log.rel, 2)
	want("s1", "", 3)
	want("s2", "", 1)
	want("", "", 0)

	taken := o.take(2)
	o.add(2, other) // the number is used again before the release is done
	want("s1", log.rel, 2)
	o.done(taken)
	want("s1", log.rel, 1)
	want("s2", "", 2)
	for handle := range uint64(6) {
		o.done(o.take(handle))
	}
	o.done(o.take(7))
	want("s1", "", 0)
	want("s2", "", 0)
	if len(o.handles) > 0 || len(o.count) > 0 {
		t.Errorf("%v and %v are left", o.handles, o.count)
	}
}
