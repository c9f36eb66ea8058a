package notes

import (
	"fmt"
	"strings"
	"testing"
)

// changedIn folds messages of the user and returns the numbers of the changed ones, with the
// number of the message that changed each: "1:2".
func changedIn(messages ...string) string {
	var c Changes
	for i, text := range messages {
		parts, _ := UserWords(text)
		var said []Statement
		for k, part := range parts {
			said = append(said, Statement{Text: part, Part: k})
		}
		c.Add(Position{Line: i + 1}, said)
	}
	var out []string
	for _, change := range c.All() {
		out = append(out, fmt.Sprintf("%d:%d", change.At.Line, change.By.Line))
	}
	return strings.Join(out, " ")
}

func TestChangeRulesHoldForExamples(t *testing.T) {
	check := func(name, was, now, kept, idle string) {
		t.Helper()
		if got := changedIn("Bundle the app with Vite.", was, now); got != "2:3" {
			t.Errorf("%s: %q, %q: %q", name, was, now, got)
		}
		if got := changedIn(kept, idle); got != "" {
			t.Errorf("%s: %q, %q: %q", name, kept, idle, got)
		}
	}
	rules := changeRules()
	if len(rules) < 30 {
		t.Errorf("%d rules", len(rules))
	}
	for _, r := range rules {
		check(r.name, r.was, r.now, r.kept, r.idle)
	}
}

func TestExplicitChangesAreRecognized(t *testing.T) {
	for _, c := range []struct {
		name     string
		messages []string
		want     string
	}{
		{"return to an earlier choice", []string{"Bundle the kiosk app with Vite.", "Switch the kiosk app to Rspack, the cold build is too slow.", "Back to Vite for the kiosk app then."}, "2:3"},
		{"identifier alone", []string{"Then take eu-south-1 for the archive.", "Use eu-north-1 instead of eu-south-1, final answer."}, "1:2"},
		{"twice in a row", []string{"Put the archive into eu-west-3.", "Take eu-south-1 instead of eu-west-3 for the archive.", "Use eu-north-1 instead of eu-south-1."}, "1:2 2:3"},
		{"second word in the sentence before", []string{"Fass die Lagerdatenbank nicht an, dort läuft die Inventur.", "Die Inventur ist vorbei. Du darfst ab jetzt wieder an die Lagerdatenbank."}, "1:2"},
		{"one sentence of a message", []string{"Run the tests. Never push to main.", "You may push to main now."}, "1:2"},
		{"the same said twice", []string{"Never push to main.", "NEVER push to main!", "You may push to main now."}, "1:3 2:3"},
		{"port with its subject", []string{"The staging port is 8443.", "The staging port is 9443 now, no longer 8443."}, "1:2"},
		{"polite lifting", []string{"Do not touch the vendor folder.", "It's fine to touch the vendor folder again."}, "1:2"},
	} {
		if got := changedIn(c.messages...); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestResemblingStatementsBothStay(t *testing.T) {
	for _, messages := range [][]string{
		{"Never push to main.", "You may push to main now. Just this once."},
		{"Never push to main.", "You may push to main until Friday."},
		{"Never push to main.", "You may push to release now."},
		{"Never push to main.", "Don't push to main any more."},
		{"Never push to main.", "May we push to main now?"},
		{"Never push to main.", "If the tests pass, you may push to main now."},
		{"Never push to main.", "He said you may push to main now."},
		{"Never push to main.", "For production, you may push to main now."},
		{"Set the log level of the ferry API to debug.", "For production, set the log level to warn instead of debug."},
		{"Run the gateway on port 8443.", "Run the proxy on port 8443.", "Use port 9443 instead of 8443."},
		{"The retry limit is 30.", "Show 45 rows instead of 30."},
		{"the port is 8443", "the port is 9443"},
		{"Serve port 8443 to the web. Serve port 9127 instead of port 8443 to the web."},
		{"use tabs, not spaces", "use spaces, not tabs"},
		{"Deploy the image scheduler:7.2.", "If the canary fails, use scheduler:7.1 instead of 7.2."},
		{"Plan my dinner, vegetarian only.", "My mother wrote: \"Forget the vegetarian dinner. Take the steak.\" Typical."},
		{"Index the files of docs/.", "Don't index the files of docs/ any more in this branch."},
	} {
		if got := changedIn(messages...); got != "" {
			t.Errorf("%q: %q", messages, got)
		}
	}
}

// "Go back to plan A" ends the yes to plan B.
func TestReturnEndsAcceptedPlan(t *testing.T) {
	n := talk("user: Plan the trip.", "assistant: Shall I book plan B?", "user: yes", "user: Changed my mind, go back to plan A.")
	if got := n.Changes(); len(got) != 1 || got[0].At.Line != 3 || got[0].By.Line != 4 {
		t.Errorf("changes: %+v", got)
	}
	n = talk("assistant: Should we keep plan B as the standard?", "user: yes", "user: Changed my mind, go back to plan A.")
	if got := n.Decisions(); len(got) > 0 {
		t.Errorf("decisions: %+v", got)
	}
}
