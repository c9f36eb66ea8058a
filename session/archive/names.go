package archive

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// PartName names a sealed part, relative to the session.
func PartName(log string, number int) string { return fmt.Sprintf("%s.%d.zst", log, number) }

// ListFile names the list of a log's sealed parts, relative to the session.
func ListFile(log string) string {
	if log == ctxabi.MessagesFile {
		return ctxabi.InternalDir + "/segments"
	}
	return ctxabi.InternalDir + "/segments.events"
}

// ParsePartName returns the log and the number of a sealed part from its file's name.
func ParsePartName(name string) (log string, number int, ok bool) {
	rest, zst := strings.CutSuffix(name, ".zst")
	if !zst {
		return "", 0, false
	}
	log, digits, cut := cutLast(rest, ".")
	number, err := strconv.Atoi(digits)
	ok = cut && err == nil && number > 0 && strconv.Itoa(number) == digits && (log == ctxabi.MessagesFile || log == ctxabi.EventsFile)
	return log, number, ok
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
