package notes

import (
	"slices"
	"testing"
)

// sentencesOf calls say with the sentences of a text.
func sentencesOf(text string, say func(s *sentence)) {
	prose(text, say, func(string, bool) {})
}

// speaker returns a role that a rule is for.
func speaker(by string) string {
	if by == anybody {
		return people
	}
	return by
}

// checkRule fails where the example of a rule is not found, or what only looks like it is.
func checkRule(t *testing.T, kind FindingKind, name, by, example, idle string, holds func(s *sentence, role string) bool) {
	role := speaker(by)
	held := false
	sentencesOf(example, func(s *sentence) { held = held || holds(s, role) })
	if !held {
		t.Errorf("%s: the rule does not hold for its example %q", name, example)
	}
	is := func(f Finding) bool { return f.Kind == kind }
	if found := Find(Record{Role: role, Text: example}); !slices.ContainsFunc(found, is) {
		t.Errorf("%s: %q gives %+v", name, example, found)
	}
	if idle == "" {
		t.Errorf("%s: no example of what only looks like it", name)
	}
	if found := Find(Record{Role: role, Text: idle}); slices.ContainsFunc(found, is) {
		t.Errorf("%s: %q gives %+v", name, idle, found)
	}
	if by != anybody { // the same words of the other side
		other := map[string]string{people: models, models: people}[by]
		sentencesOf(example, func(s *sentence) {
			if holds(s, other) {
				t.Errorf("%s: holds for %q of the %s", name, example, other)
			}
		})
	}
}

func TestRulesHoldForTheirExamples(t *testing.T) {
	for _, table := range []struct {
		kind  FindingKind
		rules *ruleTable
	}{{FoundFact, constraints}, {FoundFact, preferences}, {FoundDecision, choices}} {
		for _, r := range table.rules.rows {
			one := newRules(r)
			checkRule(t, table.kind, r.name, r.by, r.example, r.idle, func(s *sentence, role string) bool { return one.find(s, role) != nil })
		}
	}
	for _, r := range valueRules {
		checkRule(t, FoundFact, r.name, r.by, r.example, r.idle, func(s *sentence, role string) bool {
			_, stated, known := r.subject(s, role)
			return (r.by == anybody || r.by == role) && stated && known
		})
	}
	for _, table := range []struct {
		rules []statementRule
		at    func(w []noteWord, from, i int) (statement, bool)
	}{{copulaRules, copulaAt}, {placeRules, placeAt}} {
		for k, r := range table.rules {
			one := table.rules[k : k+1]
			checkRule(t, FoundFact, r.name, r.by, r.example, r.idle, func(s *sentence, role string) bool {
				for i := 1; i < len(s.words); i++ {
					from := subjectOf(s.words, i)
					if from == i {
						continue
					}
					if v, ok := table.at(s.words, from, i); ok && anyHolds(one, &v, role) {
						return true
					}
				}
				return false
			})
		}
	}
}
