package eval

import "slices"

// gram is five words in a row.
type gram [5]int32

// past is what is known of the history before a cut. It only grows.
type past struct {
	r     *reader
	n     int                 // records
	seen  map[int32]int       // identifier → the last record it stood in
	lines map[int32][]*line   // identifier → the lines it stood in
	known map[*line]struct{}  // all lines
	words map[int32]*wordSeen // plain words
	grams map[gram]struct{}
}

type wordSeen struct{ records, last int }

func newPast(r *reader) *past {
	return &past{r: r, seen: map[int32]int{}, lines: map[int32][]*line{}, known: map[*line]struct{}{}, words: map[int32]*wordSeen{}, grams: map[gram]struct{}{}}
}

// add adds the next record, as it is rendered in full.
func (p *past) add(text string) {
	p.n++
	lines := p.r.read(text)
	for _, l := range lines {
		for _, id := range l.ids {
			p.seen[id] = p.n
		}
		for _, w := range l.words {
			if p.r.kinds[w] != plain {
				continue
			}
			s := p.words[w]
			if s == nil {
				s = &wordSeen{}
				p.words[w] = s
			}
			if s.last != p.n {
				s.records, s.last = s.records+1, p.n
			}
		}
		if _, ok := p.known[l]; !ok {
			p.known[l] = struct{}{}
			for _, id := range l.ids {
				p.lines[id] = append(p.lines[id], l)
			}
		}
	}
	eachGram(lines, func(g gram) { p.grams[g] = struct{}{} })
}

// eachGram calls emit with each five words in a row; no row reaches from one record to the next.
func eachGram(lines []*line, emit func(gram)) {
	var g gram
	n := 0
	for _, l := range lines {
		if l.heading { // a fold may stand in it
			n = 0
		}
		for _, w := range l.words {
			copy(g[:], g[1:])
			g[4] = w
			if n++; n >= len(g) {
				emit(g)
			}
		}
	}
}

// rare is how many records a plain word may stand in and still say something.
func (p *past) rare() int { return max(2, p.n/20) }

// need is what of the past the agent used after a cut.
type need struct {
	ids   []int32 // in order of their first use
	words []int32
	grams []gram
}

// needs returns what the texts of the agent's next messages use of the past.
func (p *past) needs(texts []string) need {
	var out need
	ids, words, grams := map[int32]bool{}, map[int32]bool{}, map[gram]bool{}
	for _, text := range texts {
		lines := p.r.read(text)
		for _, l := range lines {
			for _, w := range l.words {
				switch p.r.kinds[w] {
				case identifier:
					if p.seen[w] > 0 && !ids[w] {
						ids[w] = true
						out.ids = append(out.ids, w)
					}
				case plain:
					if s := p.words[w]; s != nil && s.records <= p.rare() && !words[w] {
						words[w] = true
						out.words = append(out.words, w)
					}
				}
			}
		}
		eachGram(lines, func(g gram) {
			if _, seen := p.grams[g]; seen && !grams[g] {
				grams[g] = true
				out.grams = append(out.grams, g)
			}
		})
	}
	return out
}

// kept returns for each identifier asked for whether it stands in the text, and whether it does with its context.
func (p *past) kept(ids []int32, lines []*line) (present, inContext map[int32]bool) {
	present, inContext = map[int32]bool{}, map[int32]bool{}
	wanted := map[int32]bool{}
	for _, id := range ids {
		wanted[id] = true
	}
	for _, l := range lines {
		for _, id := range l.ids {
			if !wanted[id] {
				continue
			}
			present[id] = true
			if inContext[id] {
				continue
			}
			_, same := p.known[l]
			inContext[id] = same || slices.ContainsFunc(p.lines[id], l.resembles)
		}
	}
	return present, inContext
}

// farBack is how many messages ago an identifier was last seen to be far.
const farBack = 20

// judge compares a pack with what was needed.
func (p *past) judge(need need, pack string) Quality {
	var q Quality
	lines := p.r.read(pack)
	present, inContext := p.kept(need.ids, lines)
	for _, id := range need.ids {
		q.FRC.add(present[id])
		q.FRCctx.add(inContext[id])
		if p.n-p.seen[id] >= farBack-1 {
			q.FarCtx.add(inContext[id])
		}
	}
	words := map[int32]bool{}
	for _, l := range lines {
		for _, w := range l.words {
			words[w] = true
		}
	}
	for _, w := range need.words {
		q.FWC.add(words[w])
	}
	grams := map[gram]bool{}
	for _, g := range need.grams {
		grams[g] = false
	}
	eachGram(lines, func(g gram) {
		if _, wanted := grams[g]; wanted {
			grams[g] = true
		}
	})
	for _, g := range need.grams {
		q.F5G.add(grams[g])
	}
	return q
}

// Share is how many of some things were kept.
type Share struct {
	Kept int `json:"kept"`
	Of   int `json:"of"`
}

func (s *Share) add(kept bool) {
	s.Of++
	if kept {
		s.Kept++
	}
}

// Quality is how much of what the agent needed after one cut stands in a pack.
type Quality struct{ FRC, FRCctx, FarCtx, FWC, F5G Share }
