package session

// SetMaxInMemory makes stages go to files earlier.
func SetMaxInMemory(n int64) { maxInMemory = n }

// Tick is one tick of the janitor.
func Tick(s *Store) { s.open.tick() }

// OpenLogs is how many logs have open files.
func OpenLogs(s *Store) int { return len(s.open.list()) }

// IdleTicks is after how many ticks an unused log is closed.
const IdleTicks = idleTicks

// MaxOpenLogs is how many logs are open at most.
const MaxOpenLogs = maxOpenLogs

// MaxKeys is how many requests a log remembers.
const MaxKeys = maxKeys

// Names inside a session.
var (
	ArrivalsFile  = arrivalsFile("messages.jsonl")
	IndexFile     = indexFile("messages.jsonl")
	TokensFile    = tokensFile("messages.jsonl")
	QuarantineDir = quarantineDir
)

// ParseRow parses an arrival row and prints it again.
func ParseRow(line []byte) ([]byte, bool) {
	a, ok := parseArrival(line)
	if !ok {
		return nil, false
	}
	b := a.appendTo(nil)
	return b[:len(b)-1], true
}

// StopJanitor ends the store's goroutine, for a store that dies without Close.
func StopJanitor(s *Store) { s.open.stop() }
