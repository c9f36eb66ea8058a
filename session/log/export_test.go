package log

import "github.com/ctxfs/ctxfs/internal/memory"

// IndexBytes is the memory that a log's index takes.
func IndexBytes(l *Log) int64 { return l.index().bytes.Load() }

// IndexCache is the indexes of all open logs of l's store.
func IndexCache(l *Log) memory.Cache { return l.set.Cache() }

// SameRows reports whether two indexes have their rows in the same memory.
func SameRows(a, b *Index) bool { return a.rows.refs[0] == b.rows.refs[0] }

// SetMemory changes what limits the indexes of l's store.
func SetMemory(l *Log, m *memory.Limit) { l.set.memory = m }
