package eval

import (
	"slices"
	"strings"
)

// questions asks what is known of a session at its end.
func (r *replay) questions() error {
	for i, q := range r.s.Questions {
		if !r.options.Stretches.has(r.s, i) {
			continue
		}
		asked, err := r.s.asked(q.Question, r.counter)
		if err != nil {
			return err
		}
		for k, m := range r.options.makers() {
			p, err := m.make(asked, r.counter, r.budget, r.options).Pack(asked.Messages.Len())
			if err != nil {
				return err
			}
			s := r.states[k]
			s.Questions++
			s.promises(r, p, asked.Messages.Len())
			var evidence Share
			lines := r.past.r.read(p.Text)
			for _, n := range q.Evidence {
				evidence.add(stands(r.past.r.read(asked.texts[n-1]), lines))
			}
			s.add(EvR, evidence)
			if len(q.Answers) > 0 {
				var answer Share
				text := folded(p.Text)
				answer.add(slices.ContainsFunc(q.Answers, func(a string) bool { return strings.Contains(text, folded(a)) }))
				s.add(AnsIn, answer)
			}
		}
	}
	return nil
}

// stands reports whether three fifths of the lines of a record stand in a pack, its heading left out.
func stands(record, pack []*line) bool {
	there := map[*line]bool{}
	for _, l := range pack {
		there[l] = true
	}
	var share Share
	for _, o := range record {
		if o.heading {
			continue
		}
		found := there[o]
		for _, l := range pack {
			found = found || l.resembles(o)
		}
		share.add(found)
	}
	return share.Kept*5 >= share.Of*3
}

// folded is text without differences of case and space.
func folded(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }
