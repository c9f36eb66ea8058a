package truth

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
)

// tokenBytes is the number of bytes that filler counts as one token.
const tokenBytes = 4

// filler returns ordinary work of a kind, "KIND TOKENS". The same case and position give the same
// records.
func filler(spec, name string, position int) ([]map[string]any, error) {
	var kind string
	var tokens int
	if _, err := fmt.Sscanf(spec, "%s %d", &kind, &tokens); err != nil || tokens < 100 {
		return nil, fmt.Errorf("filler %q: want KIND TOKENS", spec)
	}
	episodes := map[string]func(*worker){"coding": (*worker).code, "booking": (*worker).book, "chat": (*worker).chat}
	episode, ok := episodes[kind]
	if !ok {
		return nil, fmt.Errorf("filler %q: unknown kind", spec)
	}

	seed := fnv.New64a()
	fmt.Fprintf(seed, "%s %d", name, position)
	w := &worker{Rand: rand.New(rand.NewPCG(seed.Sum64(), 1)), id: fmt.Sprintf("f%d-", position)}
	for w.bytes < tokens*tokenBytes {
		episode(w)
	}
	return w.records, nil
}

// worker writes records of work that has nothing to do with a case.
type worker struct {
	*rand.Rand
	id      string // prefix of the ids of calls
	calls   int
	bytes   int
	records []map[string]any
}

func (w *worker) pick(words ...string) string { return words[w.IntN(len(words))] }

func (w *worker) add(r map[string]any, text string) {
	w.records = append(w.records, r)
	w.bytes += len(text) + 20
}

func (w *worker) user(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.add(map[string]any{"role": "user", "content": text}, text)
}

func (w *worker) agent(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.add(map[string]any{"role": "assistant", "content": text}, text)
}

// tool adds a call and its result.
func (w *worker) tool(tool string, args map[string]any, text string) {
	w.calls++
	id := fmt.Sprint(w.id, w.calls)
	w.add(call(id, tool, "", args), fmt.Sprint(args))
	w.add(result(id, tool, text), text)
}

var (
	nouns = []string{
		"parser", "cursor", "ledger", "palette", "gauge", "spool", "lattice", "widget", "facet", "beacon",
	}
	verbs   = []string{"rename", "inline", "document", "simplify", "move", "split", "reorder", "comment"}
	adverbs = []string{"as in the other module", "without a new type", "so that it reads better", "like its neighbor"}
)

// code reads a file, edits it, and answers.
func (w *worker) code() {
	noun := w.pick(nouns...)
	file := fmt.Sprintf("lib/%s_%d.go", noun, w.IntN(90))
	function := w.pick("measure", "collect", "arrange", "compare", "render") + strings.ToUpper(noun[:1]) + noun[1:]
	w.user("Please %s %s in %s, %s.", w.pick(verbs...), function, file, w.pick(adverbs...))

	var b strings.Builder
	for line := range 12 + w.IntN(25) {
		indent := strings.Repeat("\t", 1+w.IntN(3))
		fmt.Fprintf(&b, "%4d%s%s_%d := %s(%s, %d)\n", line+1, indent, w.pick(nouns...), w.IntN(20),
			w.pick("min", "scale", "clip", "blend", "shift"), w.pick(nouns...), w.IntN(500))
	}
	w.tool("read_file", map[string]any{"path": file}, b.String())
	w.tool("edit_file", map[string]any{"path": file, "find": function, "replace": function + "Of"},
		fmt.Sprintf("1 replacement in %s", file))
	w.agent("%s has the new form. The %s keeps its order, and %s reads the same fields as before.",
		function, noun, file)
}

// book compares offers for something small.
func (w *worker) book() {
	thing := w.pick("garden chairs", "ring binders", "bicycle lamps", "tea towels", "picture frames", "plant pots")
	w.user("Look up %s, %d of them, and list the offers.", thing, 2+w.IntN(9))

	var b strings.Builder
	for i := range 8 + w.IntN(14) {
		fmt.Fprintf(&b, "offer %02d | %s | %s | %d.%02d | delivery in %d days | %d reviews\n",
			i+1, thing, w.pick("plain", "dark", "light", "large", "small"),
			4+w.IntN(60), w.IntN(100), 1+w.IntN(12), w.IntN(900))
	}
	w.tool("shop_search", map[string]any{"words": thing, "sort": w.pick("price", "reviews")}, b.String())
	w.agent("The list has offers for %s in several shades; the plain ones have the most reviews.", thing)
}

// chat talks about a subject of general knowledge.
func (w *worker) chat() {
	subject := w.pick("tides", "sundials", "marble", "paper making", "migrating birds", "old maps", "glass", "moss")
	w.user("I would like to read about %s, in particular about %s.", subject,
		w.pick("their history", "how people used them", "their part in music", "pictures of them"))

	var b strings.Builder
	for range 5 + w.IntN(8) {
		fmt.Fprintf(&b, "In the %s century, %s described %s in %s, and many readers copied the %s drawing. ",
			w.pick("twelfth", "fifteenth", "sixteenth", "eighteenth"),
			w.pick("a monk", "a sailor", "a printer", "a gardener"), subject,
			w.pick("a letter", "a diary", "a long poem", "a list"), w.pick("first", "smallest", "strangest"))
	}
	w.agent("%s", strings.TrimSpace(b.String()))
}
