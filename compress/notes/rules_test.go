package notes

import (
	"slices"
	"testing"
)

// Each way to state something has an example, and a sentence that resembles it and states nothing.
func TestRulesHoldForTheirExamples(t *testing.T) {
	for _, c := range []struct {
		kind                      FindingKind
		name, role, example, idle string
	}{
		{FoundFact, "an order", people, "Thanks, and please don't touch the files in gen/.", "don't worry about the files in gen/"},
		{FoundFact, "all of something must", people, "All exported functions need a comment.", "all tests in pack pass"},
		{FoundFact, "none of something may", people, "Only Ana may merge.", "he may merge only two of them"},
		{FoundFact, "leave it as it is", people, "keep answers short", "keep us posted on short notice"},
		{FoundFact, "a thing is bound to", people, "The parser must not allocate.", "We need to look at the parser."},
		{FoundFact, "a thing must", people, "Releases must carry a tag.", "it must be the cache"},
		{FoundFact, "a thing should", people, "The parser should return errors by value.", "The parser should work now."},
		{FoundFact, "a ban", people, "no console logs! return an error", "no problem at all!"},
		{FoundFact, "what needs consent", people, "Refunds above 50 euros require a supervisor.", "we need a review"},
		{FoundFact, "a preference", people, "I prefer small commits", "I like that"},
		{FoundFact, "an instruction for good", people, "use tabs, not spaces", "use the second one"},
		{FoundDecision, "a label", people, "Decision: retries are done by the client", "The decision: who knows?"},
		{FoundDecision, "a choice", people, "let's use zap for logging", "let's go through the logs once more"},
		{FoundDecision, "a model settles it", models, "I went with a heap for the queue.", "I decided for that; tell me if you disagree."},
		{FoundDecision, "a model's way", models, "I'll use a heap instead of a sort because it is bounded.", "I'll look at the caller instead of the test."},
		{FoundFact, "a label", people, "API base URL: https://api.example.org/v2", "note: 12"},
		{FoundFact, "a statement", people, "The service listens on port 8443.", "(default is 8443)"},
		{FoundFact, "an order to set it", people, "Change the timeout to 30s please", "change the colour to green please"},
		{FoundFact, "what we have", people, "we're on go1.24", "we have trouble"},
		{FoundFact, "a name and a value", people, "The staging port is 8443.", "The staging port is wrong."},
		{FoundFact, "a name and a proper name", people, "The maintainer is Ada.", "The maintainer is nice."},
		{FoundFact, "how it is called", people, "The queue is called orders", "The queue is empty"},
		{FoundFact, "a date", people, "the deadline is next friday at noon", "the deadline is good"},
		{FoundFact, "a value alone", people, "the magic word is ab-12", "the difference is 12"},
		{FoundFact, "where ours is", people, "our handbook is `doc/hand.md` for now", "their handbook is `doc/hand.md` for now"},
		{FoundFact, "a verb of place", people, "The API runs on `host-1` these days", "it runs on `host-1` these days"},
		{FoundFact, "a place of something named", people, "The binaries are stored in /opt/shop, all of them", "The old binaries of it are stored in /opt/shop, all of them"},
		{FoundFact, "a value of something named", people, "The database is stored in eu-west-1 and nowhere else", "create a database named eu-west-1 and nothing else"},
	} {
		has := func(role, text string) bool {
			return slices.ContainsFunc(Find(Record{Role: role, Text: text}), func(f Finding) bool { return f.Kind == c.kind })
		}
		if !has(c.role, c.example) {
			t.Errorf("%s: %q gives %+v", c.name, c.example, Find(Record{Role: c.role, Text: c.example}))
		}
		if has(c.role, c.idle) {
			t.Errorf("%s: %q states something", c.name, c.idle)
		}
		if c.kind == FoundFact && has(models, c.example) {
			t.Errorf("%s: a fact of the assistant: %q", c.name, c.example)
		}
	}
}
