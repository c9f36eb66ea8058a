package pack

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"
)

// diary is a long chat in which each day somebody tells of other things.
func diary(n int) *memLog {
	people := []string{"Caroline", "Melanie", "Joanna", "Nate", "Andrew", "Audrey", "Gina"}
	things := []string{"pottery", "the violin", "a marathon", "sourdough", "an old camera", "chess", "gardening", "a canoe", "astronomy"}
	l := logOf(string(message("user", "Hello, keep my diary.")))
	for i := 0; l.Len() < n; i++ {
		who, what := people[i%len(people)], things[i%len(things)]
		l.Append(message("user", fmt.Sprintf("On day %d %s told me about %s. It was entry %d of the diary, with tea and a walk of %d minutes along the river.", i, who, what, i*31, i%90)))
		l.Append(message("assistant", fmt.Sprintf("I noted day %d: %s and %s. Tell me more tomorrow.", i, who, what)))
	}
	return l
}

// recalledTokens is what the recalled parts of a pack take.
func recalledTokens(p packJSON) (n int) {
	for _, it := range p.Items {
		if it.Kind == "recall" {
			n += it.Tokens
		}
	}
	return n
}

// A question has all the room that is free, whatever the budget is, and never more; at work an agent's recall has its cap.
func TestQuestionTakesTheRoomThatIsFree(t *testing.T) {
	l := diary(1500)
	l.Append(message("user", "What did Caroline tell me about pottery and the violin?"))
	for _, budget := range []int{1000, 2000, 8000, 32000} {
		in := inputOf(l, budget)
		b := mustCompile(t, in)
		p := parseJSON(t, b)
		checkRecall(t, in, b, p)
		used := recalledTokens(p)
		limit := b.Tokens
		for _, f := range native.Formats {
			body, err := b.Native(f, func() (messages, events record.Records, err error) { return l, nil, nil })
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(body, []byte("Caroline")) {
				t.Errorf("%d, %s: %s", budget, f, body)
			}
		}
		if limit > budget || b.native.Bound > budget {
			t.Errorf("%d: %d tokens, %d in native renderings", budget, b.Tokens, b.native.Bound)
		}
		if left := budget - max(b.Tokens, b.native.Bound); left > max(120, used/4) && used < questionRoom*9/10 {
			t.Errorf("%d: %d are left, %d were taken", budget, left, used)
		}
		cap := capOf(&recipe.Source{Type: recipe.TypeRecall, Phase: recipe.Dynamic}, budget)
		if used <= cap && budget >= 8000 { // below, less than that is free
			t.Errorf("%d: a question has %d of its cap of %d", budget, used, cap)
		}
		next := l.Prefix(l.Len())
		next.Append(message("assistant", "She told you of both."))
		after := mustCompile(t, inputOf(next, budget))
		if n := recalledTokens(parseJSON(t, after)); n > cap {
			t.Errorf("%d: at work %d are recalled, the cap is %d", budget, n, cap)
		}
		if after.Epoch != b.Epoch || !bytes.HasPrefix(after.Markdown, b.Markdown[:b.Prefix]) {
			t.Errorf("%d: the answer has another prefix", budget)
		}
	}
	in := inputBy(recipeOf(recipe.Source{Type: recipe.TypeJournal}, recipe.Source{Type: recipe.TypeRecall, MaxTokens: 150}), l, 8000)
	if used := recalledTokens(parseJSON(t, mustCompile(t, in))); used == 0 || used > 150 {
		t.Errorf("%d tokens of max_tokens: 150", used)
	}
}

// What is asked for stands in the pack however far back it was said.
func TestQuestionLooksAtTheWholeHistory(t *testing.T) {
	l := logOf(string(message("user", "Hello, keep my diary.")))
	l.Append(message("user", "Audrey's parrot is called Captain Biscuit, and it is afraid of umbrellas."))
	for i, raw := range diary(20_000).Records() {
		if i > 0 {
			l.Append(raw)
		}
	}
	l.Append(message("user", "What is Audrey's parrot called?"))
	in := inputOf(l, 4000)
	b := mustCompile(t, in)
	checkRecall(t, in, b, parseJSON(t, b))
	if text, _ := recallBlock(b); !strings.Contains(text, "Captain Biscuit") {
		t.Errorf("%s", text)
	}
}

// While the agent works, recall finds messages at the beginning of a long history.
func TestAgentAtWorkRecallsTheWholeHistory(t *testing.T) {
	l := logOf(string(message("user", "Hello, keep my diary.")))
	l.Append(message("assistant", "Noted: Audrey's parrot is called Captain Biscuit, and it is afraid of umbrellas."))
	for _, raw := range diary(5000).Records()[1:] {
		l.Append(raw)
	}
	l.Append(message("user", "Draw a card for Audrey and her parrot."))
	for i := range 20 {
		l.Append(message("assistant", fmt.Sprintf("Sketch %d of the card is ready.", i)))
		in := inputOf(l, 4000)
		b := mustCompile(t, in)
		checkRecall(t, in, b, parseJSON(t, b))
		if text, _ := recallBlock(b); !strings.Contains(text, "Captain Biscuit") {
			t.Fatalf("%d records later: %s", i+1, text)
		}
	}
}

// A pack is the same whatever was compiled before it: nothing, the packs up to it, or those of records behind it.
func TestQuestionIsAnsweredAlikeColdAndWarm(t *testing.T) {
	pure(t)
	l := diary(7400)
	asked := []int{}
	for i, question := range []string{"What did Nate say about chess?", "And on day 77?", "Which walk took 31 minutes?", "Who told me about a canoe?"} {
		for _, raw := range diary(400 * (i + 1)).Records()[1:] {
			l.Append(raw)
		}
		l.Append(message("user", question))
		asked = append(asked, l.Len())
		l.Append(message("assistant", "Let me see."))
	}
	var warm Compiler
	var cold []*Build
	for _, n := range asked {
		b, err := warm.Compile(inputOf(l.Prefix(n), 8000))
		if err != nil {
			t.Fatal(err)
		}
		cold = append(cold, mustCompile(t, inputOf(l.Prefix(n), 8000)))
		sameBuild(t, b, cold[len(cold)-1])
		if text, _ := recallBlock(b); text == "" {
			t.Errorf("%d records: nothing is recalled", n)
		}
	}
	for k, n := range asked { // the index knows records behind these by now
		b, err := warm.Compile(inputOf(l.Prefix(n), 8000))
		if err != nil {
			t.Fatal(err)
		}
		sameBuild(t, b, cold[k])
	}
}

// What answers is shown with what it answers, what asks with the answer, a call with its result and a result with its call, and
// a turn of a talk with those next to it.
func TestQuestionShowsBothHalves(t *testing.T) {
	l := diary(60)
	l.Append(message("assistant", "Where did you leave the key of the greenhouse?"))
	l.Append(message("user", "Under the blue flowerpot."))
	l.Append(message("user", "Tell me of the heron near the jetty."))
	l.Append(message("assistant", "Gladly, each morning."))
	l.Append(message("user", "It likes the fog."))
	l.Append(message("user", "Which seeds grow fastest in spring?"))
	l.Append(message("assistant", "Radishes, after about four weeks."))
	l.Append([]byte(`{"role":"assistant","content":"","tool_calls":[{"id":"m","name":"measure_humidity","arguments":"{\"room\":\"orangery\"}"}]}`))
	l.Append([]byte(`{"role":"tool","tool_call_id":"m","content":"41 percent\nsensor ok"}`))
	l.Append([]byte(`{"role":"assistant","content":"","tool_calls":[{"id":"n","name":"lookup","arguments":"{\"id\":7731}"}]}`))
	l.Append([]byte(`{"role":"tool","tool_call_id":"n","content":"the lighthouse keeper is Olaf"}`))
	for _, raw := range diary(900).Records() {
		l.Append(raw)
	}
	for _, c := range []struct{ ask, want string }{
		{"How is the heron near the jetty doing?", "It likes the fog."},
		{"What lies under the blue flowerpot?", "Where did you leave the key of the greenhouse?"},
		{"How did I ask about seeds in spring?", "Radishes, after about four weeks."},
		{"How about the orangery, did you measure it?", "41 percent"},
		{"Is Olaf the lighthouse keeper?", `{"id":7731}`},
	} {
		asking := l.Prefix(l.Len())
		asking.Append(message("user", c.ask))
		in := inputOf(asking, 2000)
		b := mustCompile(t, in)
		checkRecall(t, in, b, parseJSON(t, b))
		// Recall omits lines that the block of the user's words already contains.
		if !strings.Contains(string(b.Markdown), c.want) {
			t.Errorf("%s: no %q\n%s", c.ask, c.want, b.Markdown)
		}
	}
}

// Of a record that the journal cuts, the part that answers is recalled; one that it shows whole is not.
func TestQuestionIsAnsweredFromWhatIsCut(t *testing.T) {
	l := diary(200)
	l.Append([]byte(`{"role":"assistant","content":"","tool_calls":[{"id":"m","name":"read_file","arguments":"{\"path\":\"inventory.txt\"}"}]}`))
	var rows strings.Builder
	for i := range 800 {
		fmt.Fprintf(&rows, "shelf %d holds %d jars of quince and pears\n", i, i*7)
		if i == 60 {
			rows.WriteString("the brass sextant lies in a walnut box\n")
		}
	}
	l.Append([]byte(fmt.Sprintf(`{"role":"tool","tool_call_id":"m","content":%s}`, quoteJSON(rows.String()))))
	l.Append(message("assistant", "Most of it is fruit, and the heron clock stands at the window."))
	l.Append(message("user", "Where is the brass sextant, and where the heron clock?"))
	in := inputOf(l, 4000)
	b := mustCompile(t, in)
	checkRecall(t, in, b, parseJSON(t, b))
	text, rest := recallBlock(b)
	if strings.Count(string(b.Markdown), "brass sextant lies in a walnut box") != 1 {
		t.Errorf("%s", b.Markdown)
	}
	if strings.Contains(text, "heron clock stands") || !strings.Contains(rest, "heron clock stands") {
		t.Errorf("a record that stands in the pack is recalled:\n%s", text)
	}
}

// Parts of a long record that stand beside each other are one.
func TestQuestionJoinsPartsOfARecord(t *testing.T) {
	l := diary(40)
	var long strings.Builder
	for i := range 60 {
		fmt.Fprintf(&long, "Paragraph %d speaks of harbours, of rope and of salt, and says nothing else that would matter to anybody at all today.\n\n", i)
		if i == 30 {
			long.WriteString("The lantern was lit by Matilda at dusk.\n\nThe lantern went out again at dawn, when Matilda slept.\n\n")
		}
	}
	l.Append(message("user", long.String()))
	for _, raw := range diary(400).Records() {
		l.Append(raw)
	}
	l.Append(message("user", "What about Matilda and the lantern?"))
	in := inputOf(l, 4000)
	b := mustCompile(t, in)
	p := parseJSON(t, b)
	checkRecall(t, in, b, p)
	text, _ := recallBlock(b)
	if !strings.Contains(text, "lit by Matilda at dusk.\n\nThe lantern went out") {
		t.Errorf("%s", text)
	}
	parts := 0
	for _, it := range p.Items {
		if it.Kind == "recall" && it.Range == "42" {
			parts++
		}
	}
	if parts != 1 {
		t.Errorf("record 42 stands in %d parts:\n%s", parts, text)
	}
}

// An event that comes to stand in front of others makes the index anew.
func TestQuestionAfterAnEventInFront(t *testing.T) {
	h := newHistory()
	for i := range 600 {
		h.message(message("user", fmt.Sprintf("Entry %d tells of harbour %d and of the ship that left it. %s", i, i*3, weighing(10))))
	}
	h.message(message("user", "What is with harbour 33?"))
	mm := NewMemo()
	in := h.input(h.len(), 1500)
	if _, err := CompileWith(&in, mm); err != nil {
		t.Fatal(err)
	}
	h.event([]byte(`{"type":"tool_call","name":"late","args":"harbour 33"}`))
	h.Tools[0].After = 5
	in = h.input(h.len(), 1500)
	b, err := CompileWith(&in, mm)
	if err != nil {
		t.Fatal(err)
	}
	sameBuild(t, b, mustCompile(t, in))
}
