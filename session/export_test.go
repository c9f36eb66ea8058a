package session

import (
	"github.com/ctxfs/ctxfs/internal/handles"
	"github.com/ctxfs/ctxfs/internal/memory"
	"github.com/ctxfs/ctxfs/session/archive"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

// SetMaxInMemory makes stages go to files earlier.
func SetMaxInMemory(n int64) { limits.InMemory = n }

// Tick is one tick of the janitor.
func Tick(s *Store) { s.open.Tick() }

// Shed is what happens when descriptors run out.
func Shed(s *Store) int { return s.open.Shed() }

// OpenLogs is how many logs have open files.
func OpenLogs(s *Store) int { return len(s.open.List()) }

// IdleTicks is after how many ticks an unused log is closed.
const IdleTicks = log.IdleTicks

// MaxOpenLogs is how many logs are open at most.
var MaxOpenLogs = handles.Idle() / log.LogHandles

// MaxKeys is how many requests a log remembers.
const MaxKeys = log.MaxKeys

// SetMarkEvery lays the marks of arrival rows closer, in bytes, and gives back what puts them where they were.
func SetMarkEvery(n int64) (undo func()) {
	was := limits.MarkEvery
	limits.MarkEvery = n
	return func() { limits.MarkEvery = was }
}

// SetResident makes few rows of an index enough to be read when they are used, and keeps few chunks of them.
func SetResident(n, chunks int) { limits.Resident, limits.Held = n, chunks }

// RemoveAll removes a path of the store with what is in it.
func RemoveAll(s *Store, name string) { s.disk.RemoveAll(name) }

// Names inside a session.
var (
	ArrivalsFile  = log.ArrivalsFile("messages.jsonl")
	IndexFile     = log.IndexFile("messages.jsonl")
	SegmentsFile  = archive.ListFile("messages.jsonl")
	TokensFile    = log.TokensFile("messages.jsonl")
	QuarantineDir = disk.QuarantineDir
)

// StopJanitor ends the store's goroutine, for a store that dies without Close.
func StopJanitor(s *Store) { s.open.Stop() }

// SetSealMin makes few bytes enough to be sealed, in small frames.
func SetSealMin(n int64, frame int) { limits.SealMin, limits.Frame = n, frame }

// SetMemory changes the limit of the store of x.
func SetMemory(x *Session, l *memory.Limit) { x.store.o.Memory = l }

// SetShown changes what the store of x shows of its records.
func SetShown(x *Session, f func(*Session, int, []byte) ([]byte, error)) { x.store.o.Shown = f }
