package notes

// Who a rule is for.
const (
	anybody = ""
	people  = "user"
	models  = "assistant"
)

// rule is one way in which a sentence says something, recognised by a phrase. A table of rules is
// tried at each word of a sentence, and holds where one of its rules does.
type rule struct {
	name    string
	by      string                         // whose sentences it is for
	sets    uint64                         // a phrase of one of these sets begins at the word
	holds   func(s *sentence, at int) bool // at is the number of the word
	example string                         // a sentence for which it holds
	idle    string                         // one like it that says nothing; "" for none
}

// ruleTable is rules that find the same.
type ruleTable struct {
	sets uint64 // those of its rules
	rows []rule
}

func newRules(rows ...rule) *ruleTable {
	t := &ruleTable{rows: rows}
	for _, r := range rows {
		t.sets |= r.sets
	}
	return t
}

// find returns the first rule that holds for a sentence of a role, at a word before which nothing
// makes it doubtful; nil if there is none.
func (t *ruleTable) find(s *sentence, role string) *rule {
	for i := range s.words {
		w := &s.words[i]
		if w.doubt || w.sets&t.sets == 0 {
			continue
		}
		for k := range t.rows {
			if r := &t.rows[k]; w.sets&r.sets != 0 && (r.by == anybody || r.by == role) && r.holds(s, i) {
				return r
			}
		}
	}
	return nil
}
