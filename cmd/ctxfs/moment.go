package main

import (
	"strconv"
	"strings"
	"time"
)

// moment is one pack of a session: SESSION@POINT.
type moment struct {
	session string
	point   string // "": now
}

const momentHelp = `A pack is SESSION, the present one, or SESSION@POINT, where POINT is
  120                    a number: the pack of the first 120 messages
  2026-05-04T10:00:00Z   a time: the pack of the messages that were there then
  sha256-...             the id of a pack that was served (see context/packs.jsonl)
A pack of an earlier moment is made with today's files.`

// parseMoment reads SESSION@POINT. A path may have an @, too: what follows the last one is a point only if it looks like one.
func parseMoment(arg string) (moment, error) {
	i := strings.LastIndexByte(arg, '@')
	if i < 0 || strings.Contains(arg[i:], "/") {
		return moment{arg, ""}, nil
	}
	m := moment{arg[:i], arg[i+1:]}
	if m.session == "" {
		return m, usagef("%q names no session", arg)
	}
	if _, err := strconv.Atoi(m.point); err == nil || strings.HasPrefix(m.point, "sha256-") {
		return m, nil
	}
	if _, err := time.Parse(time.RFC3339, m.point); err != nil {
		return m, usagef("%q is not a moment of a session.\n%s", m.point, momentHelp)
	}
	return m, nil
}
