package web

import (
	"context"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/figures"
	"github.com/ctxfs/ctxfs/views/inspect"
	"github.com/ctxfs/ctxfs/views/overview"
)

const (
	maxChunk   = 1000      // records of a piece of a ribbon
	maxColumns = 200       // of the overview
	maxRecord  = 256 << 10 // bytes of a record on a page
)

// ribbon answers with the records from one on, as bars.
func (s *Server) ribbon(w http.ResponseWriter, r *http.Request) {
	dir, err := s.dir(r.PathValue("ref"))
	if err != nil {
		s.sendJSON(w, failure(err), shownError(err))
		return
	}
	event := r.URL.Query().Get("log") == "events"
	log := ctxabi.MessagesFile
	if event {
		log = ctxabi.EventsFile
	}
	from, _ := strconv.Atoi(r.URL.Query().Get("from"))
	n, _ := strconv.Atoi(r.URL.Query().Get("n"))
	answer := struct {
		All  int                `json:"all"`
		Bars []overview.Glimpse `json:"bars"`
	}{overview.RecordsOf(dir, log), []overview.Glimpse{}}
	from = max(1, from)
	for i := from; i <= answer.All && i < from+min(max(n, 1), maxChunk) && r.Context().Err() == nil; i++ {
		answer.Bars = append(answer.Bars, overview.GlimpseOf(dir, inspect.Address{Event: event, N: i}))
	}
	s.sendJSON(w, http.StatusOK, answer)
}

// places answers with where the records stand now: runs of records, each with its zone.
func (s *Server) places(w http.ResponseWriter, r *http.Request) {
	dir, err := s.dir(r.PathValue("ref"))
	answer := struct {
		Messages int         `json:"messages"`
		Runs     [2][]placed `json:"runs"` // of messages, of events
	}{}
	if err == nil {
		err = s.looks.current(r.Context(), dir, func(ctx context.Context, l *Look) error {
			p, err := l.At(ctx, l.Len())
			if err != nil {
				return err
			}
			answer.Messages = l.Len()
			for i := range answer.Runs {
				answer.Runs[i] = []placed{}
				for _, x := range p.Stretches(i == 1) {
					answer.Runs[i] = append(answer.Runs[i], placed{x.From, x.To, string(x.Zone), placeWords(x.Place)})
				}
			}
			return nil
		})
	}
	if err != nil {
		s.sendJSON(w, failure(err), shownError(err))
		return
	}
	s.sendJSON(w, http.StatusOK, answer)
}

// placed is a run of records at one place.
type placed struct {
	From int    `json:"from"`
	To   int    `json:"to"`
	Zone string `json:"zone"`
	Said string `json:"said"`
}

// column is a part of the overview of a session: some records beside each other.
type column struct {
	From, To int
	X, Width float64
	Bars     []bar
	Tokens   int
}

// bar is a part of a column, in the units of its picture.
type bar struct {
	Zone      inspect.Zone
	Y, Height float64
}

// overviewOf is a session at one look.
type overviewOf struct {
	Columns []column
	Counts  []zoneCount
	All     int
	Peak    int // tokens of the highest column
	Height  float64
	Width   float64
}

// zoneCount is how much of a session stands in a zone.
type zoneCount struct {
	Zone            inspect.Zone
	Records, Tokens int
	Share           float64 // of the tokens
}

// zones are those that a legend names, in its order.
var zones = []inspect.Zone{inspect.Full, inspect.Shortened, inspect.Kept, inspect.Folded, inspect.LeftOut, inspect.Absent}

// overview shows the whole session in a picture, and how much of it stands where.
func (s *Server) overview(ctx context.Context, dir string, _ *http.Request) (string, any, error) {
	var o overviewOf
	err := s.looks.current(ctx, dir, func(ctx context.Context, l *Look) error {
		p, err := l.At(ctx, l.Len())
		if err != nil {
			return err
		}
		o = overviewFrom(l, p)
		return nil
	})
	return "overview", o, err
}

func overviewFrom(l *Look, p *inspect.Pack) overviewOf {
	o := overviewOf{All: l.Len(), Height: 64, Width: 1000}
	if o.All == 0 {
		return o
	}
	runs := p.Stretches(false)
	at := 0
	zoneOf := func(n int) inspect.Zone {
		for at < len(runs) && runs[at].To < n {
			at++
		}
		if at < len(runs) && runs[at].From <= n {
			return runs[at].Zone
		}
		return inspect.Absent
	}
	columns := min(maxColumns, o.All)
	sums := make([]map[inspect.Zone]int, columns)
	total := map[inspect.Zone]*zoneCount{}
	messages, all := l.Messages(), 0
	for n := 1; n <= o.All; n++ {
		e := messages.At(n)
		tokens := int(e.Tokens)
		if tokens == 0 {
			tokens = int(e.Weight)
		}
		z := zoneOf(n)
		c := (n - 1) * columns / o.All
		if sums[c] == nil {
			sums[c] = map[inspect.Zone]int{}
			o.Columns = append(o.Columns, column{From: n, X: float64(c) * o.Width / float64(columns), Width: o.Width / float64(columns)})
		}
		col := &o.Columns[len(o.Columns)-1]
		col.To, col.Tokens = n, col.Tokens+tokens
		sums[c][z] += tokens
		if total[z] == nil {
			total[z] = &zoneCount{Zone: z}
		}
		total[z].Records++
		total[z].Tokens += tokens
		all += tokens
		o.Peak = max(o.Peak, col.Tokens)
	}
	for i := range o.Columns {
		y := o.Height
		for _, z := range zones {
			if n := sums[i][z]; n > 0 {
				h := float64(n) / float64(o.Columns[i].Tokens) * math.Sqrt(float64(o.Columns[i].Tokens)/float64(o.Peak)) * o.Height
				y -= h
				o.Columns[i].Bars = append(o.Columns[i].Bars, bar{z, y, h})
			}
		}
	}
	for _, z := range zones {
		if t := total[z]; t != nil {
			t.Share = float64(t.Tokens) / float64(max(1, all))
			o.Counts = append(o.Counts, *t)
		}
	}
	return o
}

// recordView is a record and what is beside it.
type recordView struct {
	Ref, Name string
	Event     bool
	N, All    int
	Glimpse   overview.Glimpse
	Text      overview.Head
	Path      string
	Raw       string
	Prev      int
	Next      int
}

// record shows one record: its text, its neighbours, where it is. Its life is a part of its own, which takes longer.
func (s *Server) record(_ context.Context, dir string, r *http.Request) (string, any, error) {
	a, err := addressOf(r)
	if err != nil {
		return "", nil, err
	}
	log := ctxabi.MessagesFile
	if a.Event {
		log = ctxabi.EventsFile
	}
	v := recordView{Ref: r.PathValue("ref"), Name: a.String(), Event: a.Event, N: a.N, All: overview.RecordsOf(dir, log), Glimpse: overview.GlimpseOf(dir, a)}
	v.Path, v.Raw = filepath.Join(dir, a.Path()+".txt"), filepath.Join(dir, a.Path())
	if v.Text, err = overview.ReadHead(v.Path, maxRecord); err != nil {
		return "", nil, err
	}
	v.Text.Text = overview.Visible(v.Text.Text)
	if a.N > 1 {
		v.Prev = a.N - 1
	}
	if a.N < v.All {
		v.Next = a.N + 1
	}
	return "record", v, nil
}

// addressOf reads the record that a request names. It returns ctxabi.ErrMalformed if it names none.
func addressOf(r *http.Request) (inspect.Address, error) {
	text := r.URL.Query().Get("r")
	event, span, ok, err := inspect.ParseRecords(text)
	if err != nil || !ok || span.Len() != 1 {
		return inspect.Address{}, ctxabi.E("read", "", ctxabi.ErrMalformed, "%.40q is not a record; one is messages:57 or events:12", text)
	}
	return inspect.Address{Event: event, N: span.From}, nil
}

// turn is a moment of a record's life, in words.
type turn struct {
	At   int
	Said string
	Why  string
}

// lifeView is where a record stands and how it came there.
type lifeView struct {
	inspect.Record
	Ref   string
	Turns []turn
	Dir   string
}

// life shows where a record stands in the present pack, and how it came there.
func (s *Server) life(ctx context.Context, dir string, r *http.Request) (string, any, error) {
	a, err := addressOf(r)
	if err != nil {
		return "", nil, err
	}
	v := lifeView{Ref: r.PathValue("ref"), Dir: dir}
	err = s.looks.previewed(ctx, dir, 0, func(ctx context.Context, l *Look) error {
		list, err := l.Why(ctx, a.Event, ctxabi.Span{From: a.N, To: a.N})
		if err == nil {
			v.Record = list[0]
		}
		return err
	})
	if err != nil {
		return "", nil, err
	}
	for i, t := range v.Life {
		x := turn{At: t.At, Said: placeWords(t.Place)}
		if t.Tokens > 0 {
			x.Said += ", " + figures.Count(t.Tokens, "token")
		}
		switch {
		case i == 0:
			x.Why = "it arrived"
		case t.Compaction:
			x.Why = "by a compaction"
		default:
			x.Why = t.EpochReason
		}
		v.Turns = append(v.Turns, x)
	}
	v.Paths = slices.Clone(v.Paths)
	for i, p := range v.Paths {
		if !strings.HasPrefix(p, "/") {
			v.Paths[i] = filepath.Join(dir, p)
		}
	}
	return "life", v, nil
}
