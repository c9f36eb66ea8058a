package top

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ctxfs/ctxfs/internal/figures"
	"github.com/ctxfs/ctxfs/views/overview"
)

// The smallest window that has room for a list.
const (
	leastWidth  = 40
	leastHeight = 10
)

// View implements [tea.Model].
func (m *model) View() tea.View {
	v := tea.NewView(m.screen())
	v.AltScreen = true
	return v
}

// screen is all of it: as many lines as the window has, none wider.
func (m *model) screen() string {
	if m.width == 0 || m.height == 0 {
		return ""
	}
	if m.width < leastWidth || m.height < leastHeight {
		text := fmt.Sprintf("The window is too small: ctxfs top needs %d columns and %d lines. q quits.", leastWidth, leastHeight)
		return strings.Join(wrap(text, m.width, m.height), "\n")
	}
	var lines []string
	switch {
	case m.help:
		lines = m.helpLines()
	case m.detail != nil:
		lines = m.detailLines()
		lines = lines[min(m.scroll, len(lines)):]
	default:
		lines = m.listLines()
	}
	body := m.bodyHeight()
	for len(lines) < body {
		lines = append(lines, "")
	}
	return m.title() + "\n" + strings.Join(lines[:body], "\n") + "\n" + m.footer()
}

// bodyHeight is how many lines stand between the first and the last one.
func (m *model) bodyHeight() int { return max(1, m.height-2) }

// lister returns what writes rows as wide as the window.
func (m *model) lister() *lister {
	l := &lister{painter: m.paint, now: m.now, usual: m.c.Budget, widest: m.widest}
	l.layOut(m.width)
	return l
}

// title returns the first line of the screen: the sessions shown, their order and the state of the list.
func (m *model) title() string {
	var left, right []string
	if m.help {
		return m.paint.paint(strong, crop("ctxfs top "+harmless(m.c.Source.Root), m.width))
	}
	if m.detail != nil {
		agent, name, owner := overview.Named(m.detail.ref)
		left = append(left, harmless(strings.TrimPrefix(agent+" / "+name, " / ")))
		if owner != "" {
			left = append(left, harmless(owner))
		}
		if m.detail.row.State != "" {
			left = append(left, harmless(m.detail.row.State))
		}
	} else {
		left = append(left, "ctxfs "+harmless(m.c.Source.Root), m.howMany(), "by "+m.order.words())
	}
	if m.left > 0 && m.detail == nil {
		right = append(right, figures.Thousands(m.left)+" to read")
	}
	if m.paused {
		right = append(right, "PAUSED")
	}
	end := strings.Join(right, "  ")
	text := fit(strings.Join(left, "  "), m.width-width(end)-1)
	return m.paint.paint(strong, text) + " " + m.paint.paint(yellow, end)
}

// howMany counts the sessions.
func (m *model) howMany() string {
	switch {
	case !m.listed:
		return "reading the list"
	case m.filter != "" || m.filtering:
		return fmt.Sprintf("%s of %s", figures.Thousands(len(m.list)), figures.Count(len(m.items), "session"))
	}
	return figures.Count(len(m.items), "session")
}

// footer is what keys do, the filter, or that the mount does not serve.
func (m *model) footer() string {
	switch m.mount {
	case isGone:
		return m.paint.paint(alarm, crop("the mount is gone; this goes on when it is back", m.width))
	case isSilent:
		return m.paint.paint(alarm, crop("the mount does not answer; this goes on when it does", m.width))
	}
	hints := "enter look  / filter  s sort  p pause  ? help  q quit"
	switch {
	case m.filtering:
		return crop("/"+harmless(m.filter), m.width-1) + m.paint.paint(chosen, "_")
	case m.help:
		hints = "esc back  q quit"
	case m.detail != nil:
		hints = "esc back  j k scroll  p pause  ? help  q quit"
	case m.filter != "":
		hints = "/" + harmless(m.filter) + "  esc clears it  " + hints
	}
	return m.paint.paint(faint, crop(hints, m.width))
}

func (m *model) listLines() []string {
	l := m.lister()
	lines := []string{m.paint.paint(faint, l.heading())}
	if len(m.list) == 0 {
		text := "No session has these words in its name."
		switch {
		case !m.listed:
			text = "Reading the list of sessions …"
		case len(m.items) == 0 && m.c.Wanted != "":
			text = "No such session: " + harmless(m.c.Wanted)
		case len(m.items) == 0:
			text = "No session yet. A session is a directory: mkdir -p " + harmless(m.c.Source.Root) + "/home/$(id -u)/agent/coder/session/s1"
		}
		return append(append(lines, ""), wrap(text, m.width, m.height)...)
	}
	for i := m.from; i < min(m.from+m.rowsShown(), len(m.list)); i++ {
		x := m.list[i]
		if i == m.at {
			bare := *l
			bare.painter = painter{} // the colours of cells would end that of the row
			lines = append(lines, m.paint.paint(chosen, "› "+bare.row(x, m.rows[x.Ref])))
			continue
		}
		lines = append(lines, "  "+l.row(x, m.rows[x.Ref]))
	}
	return lines
}

func (m *model) helpLines() (lines []string) {
	const keys = 20
	lines = []string{""}
	for _, k := range keyHelp {
		for i, line := range wrap(k[1], m.width-keys-2, m.height) {
			if i > 0 {
				k[0] = ""
			}
			lines = append(lines, m.paint.paint(strong, fit(k[0], keys))+"  "+line)
		}
	}
	return lines
}

func (m *model) detailLines() []string {
	if m.detail == nil {
		return nil
	}
	return m.detail.lines(m.lister(), m.width)
}

// wrap breaks a harmless text into lines between words, at most n.
func wrap(text string, cells, n int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && width(line)+1+width(word) > cells {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
		line = crop(line, cells)
	}
	lines = append(lines, line)
	return lines[:min(n, len(lines))]
}
