package top

import (
	"slices"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// keyHelp is what the help shows.
var keyHelp = [][2]string{
	{"up down, k j", "the session above, below"},
	{"page up, page down", "a screen up, down"},
	{"home end, g G", "the first, the last session"},
	{"enter", "look at a session; esc goes back"},
	{"/", "show only names that have these words; enter keeps them, esc clears them"},
	{"s", "sort by last activity, tokens, messages, name"},
	{"p", "pause, and go on"},
	{"?", "this help"},
	{"q, ctrl-c", "quit"},
}

// press does the action of a key.
func (m *model) press(k tea.KeyPressMsg) tea.Cmd {
	key := k.String()
	switch {
	case key == "ctrl+c":
		return tea.Quit
	case key == "ctrl+z":
		return tea.Suspend
	case m.filtering:
		m.typeFilter(k)
		return nil
	}
	switch key {
	case "q":
		return tea.Quit
	case "?":
		m.help = !m.help
		return nil
	case "p":
		m.paused = !m.paused
		return nil
	}
	if m.help {
		m.help = key != "esc" && key != "enter"
		return nil
	}
	if m.detail != nil {
		if key == "esc" || key == "backspace" || key == "left" || key == "h" {
			m.detail = nil
		} else {
			m.scroll = moved(key, m.scroll, len(m.detailLines())-1, m.bodyHeight())
		}
		return nil
	}
	switch key {
	case "/":
		m.filtering = true
	case "esc":
		if m.filter != "" {
			m.setFilter("")
		}
	case "s":
		m.order = Orders[(slices.Index(Orders, m.order)+1)%len(Orders)]
		m.left = 0
		m.toTop()
		m.sort()
	case "enter", "right", "l":
		if m.at < len(m.list) {
			x := m.list[m.at]
			m.detail, m.scroll = &detail{ref: x.Ref, dir: m.c.dir(x.Ref)}, 0
		}
	default:
		if to := moved(key, m.at, len(m.list)-1, m.rowsShown()); to != m.at {
			m.at = max(0, to)
			m.chosen = ""
		}
	}
	return nil
}

// moved returns where a key leads from a place between 0 and last; page is how much one screen has.
func moved(key string, at, last, page int) int {
	switch key {
	case "up", "k", "ctrl+p":
		at--
	case "down", "j", "ctrl+n":
		at++
	case "pgup", "ctrl+b":
		at -= page
	case "pgdown", "ctrl+f", "space":
		at += page
	case "ctrl+u":
		at -= page / 2
	case "ctrl+d":
		at += page / 2
	case "home", "g":
		at = 0
	case "end", "G":
		at = last
	}
	return max(0, min(at, last))
}

// typeFilter changes the filter, and the list with it.
func (m *model) typeFilter(k tea.KeyPressMsg) {
	switch key := k.String(); key {
	case "enter":
		m.filtering = false
	case "esc":
		m.filtering = false
		m.setFilter("")
	case "backspace", "ctrl+h":
		_, n := utf8.DecodeLastRuneInString(m.filter)
		m.setFilter(m.filter[:len(m.filter)-n])
	case "ctrl+u", "ctrl+w":
		m.setFilter("")
	case "up", "down", "pgup", "pgdown", "home", "end":
		m.at = moved(key, m.at, len(m.list)-1, m.rowsShown())
		m.chosen = ""
	default:
		if k.Text != "" {
			m.setFilter(m.filter + typed(k.Text))
		}
	}
}
