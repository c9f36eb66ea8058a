// Package harness runs the built ctxfs binary as a subprocess for tests of the
// whole program. A test process may open files of the mount directly, because
// it never serves one itself.
//
// A test package begins with
//
//	func TestMain(m *testing.M) { harness.Main(m) }
//
// and then
//
//	mnt := harness.Start(t, harness.Options{})
//	s := mnt.NewSession(t)
//	r := s.Bash(`echo '{"role":"user","content":"hi"}' >> messages.jsonl`)
//
// The binary is built once a test process; CTXFS_BIN names one that is there
// already. When a test ends its daemon is ended by pid, and the test fails if
// the daemon did not stop cleanly, left a mount, a process or too many open
// descriptors behind. A test that failed prints the daemon's log.
//
// Nothing here sleeps: a daemon is ready when it says so, and is gone when its
// output closes.
package harness
