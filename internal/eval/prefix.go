package eval

import (
	"fmt"
	"strings"
)

// sent is what is known of a pack when the next one is compared with it.
type sent struct {
	text        string
	epoch       string
	stable      int // so many bytes of it begin the next pack of its epoch
	compactions int // how many there were
	major       int // which of them was the last major one; a minor one after it only adds to what that one left
	majorStable int // bytes through the blocks of that one
}

// breaks returns which promise s breaks about the beginning that it shares with the pack before it; "" if none. Within an
// epoch the stable bytes stay. A minor compaction keeps the bytes through the blocks of the last major one.
func (s *sent) breaks(before *sent) string {
	switch {
	case before == nil:
	case s.epoch == before.epoch && !strings.HasPrefix(s.text, before.text[:before.stable]):
		return fmt.Sprintf("the prefix broke within epoch %s", s.epoch)
	case s.compactions > before.compactions && s.major == before.major && !strings.HasPrefix(s.text, before.text[:before.majorStable]):
		return fmt.Sprintf("minor compaction %d broke the prefix that major compaction %d left", s.compactions, s.major)
	}
	return ""
}
