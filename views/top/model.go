package top

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ctxfs/ctxfs/views/overview"
)

// ageEvery is how often times that are past are written anew.
const ageEvery = 10 * time.Second

// model is what the screen shows. Its methods run one after the other.
type model struct {
	c     *Config
	wish  func(wish) // hands on what is to be read
	paint painter

	width, height int
	now           time.Time
	mount         mountState
	paused, help  bool

	items  map[string]*item // all, by their paths
	list   []*item          // those that the filter leaves, in order
	rows   map[string]*overview.Row
	widest [2]int // cells of names and agents of all
	listed bool   // the first list has come
	left   int    // rows that the order waits for
	order  Order

	filter    string
	filtering bool // letters go to the filter
	at, from  int  // of the chosen row, and of the first one on the screen
	chosen    string

	detail *detail // of the session that is looked at; nil: the list is shown
	scroll int
}

type tickMsg time.Time

func newModel(c *Config, wish func(wish)) *model {
	return &model{c: c, wish: wish, paint: painter{c.Color}, now: time.Now(), order: c.Order,
		items: map[string]*item{}, rows: map[string]*overview.Row{}}
}

func tick() tea.Cmd { return tea.Tick(ageEvery, func(t time.Time) tea.Msg { return tickMsg(t) }) }

// Init implements [tea.Model].
func (m *model) Init() tea.Cmd { return tick() }

// Update implements [tea.Model].
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		cmd = m.press(msg)
	case tea.PasteMsg:
		if m.filtering {
			m.setFilter(m.filter + harmless(msg.Content))
		}
	case tickMsg:
		if cmd = tick(); !m.paused {
			m.now = time.Time(msg)
		}
		return m, cmd
	case tea.ResumeMsg:
		m.now = time.Now()
	case mountMsg:
		m.mount = msg.state
	case listMsg:
		if !m.paused || !m.listed {
			m.take(msg.entries)
		}
	case rowsMsg:
		m.left = msg.left
		for i := range msg.rows {
			m.takeRow(&msg.rows[i])
		}
		m.sort()
	case detailMsg:
		if m.detail != nil && m.detail.ref == msg.ref {
			if msg.failed == nil {
				msg.prompt, msg.failed = m.detail.prompt, m.detail.failed // until the next one is there
			}
			m.detail = msg.detail
		}
	case promptMsg:
		if m.detail != nil && m.detail.ref == msg.ref {
			m.detail.prompt, m.detail.failed = msg.prompt, msg.err
		}
	default:
		return m, nil
	}
	if _, ok := msg.(tea.KeyPressMsg); !ok && !m.paused {
		m.now = time.Now()
	}
	m.keepInside()
	m.ask()
	return m, cmd
}

// take replaces the list of all sessions.
func (m *model) take(entries []overview.Entry) {
	items := make(map[string]*item, len(entries))
	for _, e := range entries {
		x, ok := m.items[e.Ref]
		if !ok {
			x = newItem(e)
		}
		x.Updated = e.Updated
		items[e.Ref] = x
	}
	for ref := range m.rows {
		if _, ok := items[ref]; !ok {
			delete(m.rows, ref)
		}
	}
	m.items, m.listed = items, true
	m.refilter()
}

func (m *model) takeRow(r *overview.Row) {
	x, ok := m.items[r.Ref]
	if !ok {
		return
	}
	x.Updated = r.Updated
	m.rows[r.Ref] = r
}

// refilter chooses those of all that the filter leaves.
func (m *model) refilter() {
	all := make([]*item, 0, len(m.items))
	for _, x := range m.items {
		all = append(all, x)
	}
	m.widest = widest(all)
	m.list = filtered(all, m.filter)
	m.sort()
}

func (m *model) setFilter(text string) {
	m.filter = strings.TrimLeft(text, " ")
	m.refilter()
	m.toTop()
}

// sort puts the list in order. The chosen session stays chosen where it goes, but for the first one: a cursor at
// the top stays at the top.
func (m *model) sort() {
	m.order.sorted(m.list, m.rows)
	if m.at == 0 || m.chosen == "" {
		return
	}
	if i := slices.IndexFunc(m.list, func(x *item) bool { return x.Ref == m.chosen }); i >= 0 {
		m.from += i - m.at
		m.at = i
	}
}

// rowsShown is how many rows the screen has.
func (m *model) rowsShown() int { return max(1, m.height-3) }

// toTop chooses the first row.
func (m *model) toTop() { m.at, m.from, m.chosen = 0, 0, "" }

// keepInside moves what is on the screen so that the chosen row is.
func (m *model) keepInside() {
	m.at = max(0, min(m.at, len(m.list)-1))
	m.from = max(m.at-m.rowsShown()+1, min(m.from, m.at))
	m.from = max(0, min(m.from, len(m.list)-m.rowsShown()))
	m.chosen = ""
	if len(m.list) > 0 {
		m.chosen = m.list[m.at].Ref
	}
	m.scroll = max(0, min(m.scroll, len(m.detailLines())-m.bodyHeight()))
}

// ask hands on what the screen needs.
func (m *model) ask() {
	w := wish{all: m.order.needsRows() && m.detail == nil, paused: m.paused}
	if m.detail != nil {
		w.detail = m.detail.ref
	} else {
		for _, x := range m.list[min(m.from, len(m.list)):min(m.from+m.rowsShown(), len(m.list))] {
			w.shown = append(w.shown, x.Ref)
		}
	}
	m.wish(w)
}
