package eval

import (
	"fmt"
	"strings"
)

// sent is what is known of a pack when the next one is compared with it.
type sent struct {
	text   string
	epoch  string
	stable int    // so many bytes of it begin the next pack of its epoch
	major  string // names the last major compaction; minor ones after it only add to what that one left; "": there was none
	past   int    // bytes through what was left by it and the minor ones so far
}

// breaks returns which promise s breaks about the beginning that it shares with the pack before it; "" if none. Within an
// epoch the stable bytes stay. A minor compaction keeps the bytes of the compacted past.
func (s *sent) breaks(before *sent) string {
	switch {
	case before == nil:
	case s.epoch == before.epoch && !strings.HasPrefix(s.text, before.text[:before.stable]):
		return fmt.Sprintf("the prefix broke within epoch %s", s.epoch)
	case s.major != "" && s.major == before.major && !strings.HasPrefix(s.text, before.text[:before.past]):
		return fmt.Sprintf("epoch %s broke what the major compaction %s left", s.epoch, s.major)
	}
	return ""
}
