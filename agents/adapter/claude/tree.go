package claude

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/agents/adapter"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// claudeUnit is a turn of one side: an answer, which is one record or several
// with the same message.id, together with the results of its calls; or a
// message of the user.
//
// The records of an answer and of its results hang on each other in many
// ways: each call on the one before it, each result on its own call, what
// follows on any of the results. Seen as one unit they are no fork.
type claudeUnit struct {
	records  []*claudeRecord // of the message itself, without results
	parent   *claudeUnit
	children []*claudeUnit
	up       int  // the record that the first one follows
	answered bool // a call of it has a result
	lost     bool // it is on a branch that the conversation left
}

// claudeTree finds out which records belong together and which of them are
// the conversation. Only parents that stand earlier in the transcript count,
// so that there are no cycles, and what was found of the beginning of a
// transcript holds when it has grown, but for what was left since.
//
// A prompt that follows the same turn as an earlier prompt is a rewind or an edit: the earlier
// prompt and all its descendants are abandoned. An answer is abandoned if the next record repeats
// it. If another message already follows its parent, a message has a wrong parent; it then follows
// the preceding message, so that no message in between is lost.
type claudeTree struct {
	records []*claudeRecord
	byUUID  map[string]int
	last    map[string]int  // the last message of a chain that is of the conversation
	begun   map[string]bool // sessions that have a message
	names   map[string]int  // of chains: how often each was wanted
	tasks   []claudeTask    // that no side chain was found for yet

	answers map[[2]string]*claudeUnit   // by chain and message.id, the last one
	calls   map[[2]string]*claudeUnit   // by chain and id of a call
	next    map[int]*claudeUnit         // by record: the last message that follows it
	prompts map[*claudeUnit]*claudeUnit // by turn: the last prompt that its parentUuid puts behind it

	left  [][2]*claudeUnit // a unit that was left, and the one that came instead
	tally *adapter.Tally
}

func newClaudeTree(records []*claudeRecord, tally *adapter.Tally) *claudeTree {
	t := &claudeTree{records: records, tally: tally,
		byUUID: map[string]int{}, last: map[string]int{}, names: map[string]int{}, begun: map[string]bool{},
		answers: map[[2]string]*claudeUnit{}, calls: map[[2]string]*claudeUnit{},
		next: map[int]*claudeUnit{}, prompts: map[*claudeUnit]*claudeUnit{}}
	for i, r := range records {
		if r.native {
			t.byUUID[r.uuid] = i
		}
	}
	for i, r := range records {
		if r.bad != "" {
			continue
		}
		r.chain = t.chainOf(i)
		t.follow(i)
		t.tasks = append(t.tasks, r.tasks...)
		if !r.isMessage() {
			continue
		}
		t.place(i)
		if r.chain == "" {
			t.begun[r.session] = true
		}
		if !r.unit.lost {
			t.last[r.chain] = i
		}
	}
	return t
}

// compacted returns the range of the compaction summary at index i. The summary replaces all
// earlier messages except the preserved segment that its compact_boundary record names. Without
// such a record, the summary replaces all earlier messages.
func (t *claudeTree) compacted(i int) (c adapter.Compacted) {
	boundary := i - 1
	if p, ok := t.byUUID[t.records[i].parent]; ok && p < i {
		boundary = p
	}
	for ; boundary >= 0 && t.records[boundary].subtype != "compact_boundary"; boundary-- {
	}
	if boundary < 0 {
		return c
	}

	head := gjson.GetBytes(t.records[boundary].line.Bytes, "compactMetadata.preservedSegment.headUuid").Str
	from, ok := t.byUUID[head]
	for ; ok && from < boundary; from++ {
		c.Kept = append(c.Kept, t.records[from].id)
	}
	return c
}

// chainOf names the chain of record i: "" but for those of side chains.
// Newer ones have the id of their agent. Older ones are told apart by their
// roots, and have the name of the task that they were started with.
func (t *claudeTree) chainOf(i int) string {
	r := t.records[i]
	switch {
	case r.agent != "" && (r.sidechain || r.uuid == "" && r.session != ""): // the journal of a workflow has neither
		name := claudeAgentName(r.agent)
		t.names[name]++
		return name
	case !r.sidechain:
		return ""
	}
	if p, ok := t.byUUID[r.parent]; ok && p < i && t.records[p].chain != "" {
		return t.records[p].chain
	}
	name := "side"
	said := r.said()
	for n, task := range t.tasks {
		if task.prompt == said && said != "" {
			t.tasks = append(t.tasks[:n:n], t.tasks[n+1:]...)
			if slug := claudeSlug(task.description); slug != "" {
				name = slug
			}
			break
		}
	}
	base := name
	for t.names[name] > 0 {
		t.names[base]++
		name = base + "-" + strconv.Itoa(t.names[base])
	}
	t.names[name]++
	return name
}

// claudeAgentName is the name of the chain of the agent with that id, wherever its records stand.
func claudeAgentName(id string) string {
	name := "agent-" + strings.Map(func(c rune) rune {
		if ctxabi.ValidName("x"+string(c)) != nil {
			return '-'
		}
		return c
	}, id)
	if name != "agent-"+id || ctxabi.ValidName(name) != nil {
		name = name[:min(len(name), 80)] + "-" + adapter.SourceID([]byte(id), 0)
	}
	return name
}

// claudeSlug makes a name of a description, "" if nothing of it can stand in one.
func claudeSlug(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') })
	name := ""
	for _, w := range words {
		if len(name)+len(w) > 60 {
			break
		}
		name = strings.TrimPrefix(name+"-"+w, "-")
	}
	return name
}

// follow finds the message that record i comes after: its nearest ancestor
// that is one, else, where the line of ancestors is broken, the message before
// it in the transcript.
func (t *claudeTree) follow(i int) {
	r := t.records[i]
	parent, joined := r.parent, false
	if r.typ == "system" && r.subtype == "compact_boundary" {
		// What follows a compaction is a beginning, and was not left with what was before it.
		joined = true
		if parent == "" {
			parent = r.logical
		}
	}
	before, any := t.last[r.chain]
	if !any {
		before = -1
	}
	p, known := t.byUUID[parent]
	switch {
	case parent == "" && !joined && r.isRoot() && !t.begun[r.session]:
		r.up = -1 // a beginning of its own
	case parent == "":
		if !joined && any && r.isRoot() && !r.compact {
			t.tally.Add(r.line.Where(), "has no parent, and is not the first of its session"+claudeFollows)
		}
		r.up, r.joined = before, true
	case known && p < i && t.records[p].chain == r.chain:
		if r.up = p; !t.records[p].isMessage() {
			r.up, joined = t.records[p].up, joined || t.records[p].joined
		}
		r.joined = joined
	default:
		r.up, r.joined = before, true
		switch {
		case !r.isMessage() || known && t.records[p].chain != r.chain:
		case known:
			t.tally.Add(r.line.Where(), "its parent comes after it or is itself"+claudeFollows)
		case before >= 0: // else it is in another transcript, which this one goes on from
			t.tally.Add(r.line.Where(), "its parent is not in the transcript"+claudeFollows)
		}
	}
}

// isRoot reports whether r is a message of the session itself whose parent is null.
func (r *claudeRecord) isRoot() bool { return r.root && r.isMessage() && r.chain == "" }

// claudeFollows is the last part of a report about a record with a wrong parent.
const claudeFollows = "; taken to follow the message before it"

// place puts the message i into its unit.
func (t *claudeTree) place(i int) {
	r := t.records[i]
	var parent *claudeUnit
	if r.up >= 0 {
		parent = t.records[r.up].unit
	}
	if r.unit = t.unitOf(r, parent); r.unit != nil {
		if r.kind == claudeAssistant {
			r.unit.records = append(r.unit.records, r)
			t.called(r)
		}
		r.unit.answered = r.unit.answered || r.kind == claudeResult
		return
	}
	r.unit = &claudeUnit{records: []*claudeRecord{r}, parent: parent, up: r.up}
	if r.isPiece() {
		t.answers[[2]string{r.chain, r.messageID}] = r.unit
	}
	t.called(r)
	if parent == nil {
		return
	}
	if why := t.misplaced(r); why != "" {
		before := t.last[r.chain]
		r.up, r.unit.up, r.unit.parent = before, before, t.records[before].unit
		t.tally.Add(r.line.Where(), why+claudeFollows)
	}
	r.unit.parent.children = append(r.unit.parent.children, r.unit)
}

// misplaced returns the reason why the message that begins with r cannot follow its parent. If it
// can, misplaced returns "" and abandons the message that it replaces.
func (t *claudeTree) misplaced(r *claudeRecord) (why string) {
	u := r.unit
	turn, was := u.parent, t.next[u.up]
	claims := !r.joined && r.kind != claudeQueued && r.kind != claudeAttached
	if r.kind == claudePrompt && claims {
		before := t.prompts[turn]
		t.prompts[turn] = u
		if before != nil && !before.lost {
			t.next[u.up] = u
			u.parent, u.up = before.parent, before.up
			t.leave(before, u)
			return ""
		}
	}
	switch {
	case turn.lost:
		return "its parent is on a branch that was left"
	case !claims:
		return ""
	case was == nil || was.lost:
	case r.kind == claudeAssistant && was.records[0].kind == claudeAssistant && !was.answered &&
		was == t.records[t.last[r.chain]].unit:
		t.leave(was, u)
	default:
		return "its parent is an earlier message, which another one follows"
	}
	t.next[u.up] = u
	return ""
}

// leave records that the message now replaced the message was, and abandons was with all its
// descendants.
func (t *claudeTree) leave(was, now *claudeUnit) {
	t.left = append(t.left, [2]*claudeUnit{was, now})
	for left := []*claudeUnit{was}; len(left) > 0; {
		u := left[len(left)-1]
		left = left[:len(left)-1]
		if !u.lost {
			u.lost = true
			left = append(left, u.children...)
		}
	}
}

// unitOf returns the unit that r, which follows a message of parent, belongs to; nil if it begins one.
func (t *claudeTree) unitOf(r *claudeRecord, parent *claudeUnit) *claudeUnit {
	switch r.kind {
	case claudeAssistant:
		if !r.isPiece() {
			return nil
		}
		if u := t.answers[[2]string{r.chain, r.messageID}]; u != nil && (r.joined || parent == u || r.up == u.up) {
			return u
		}
	case claudeResult:
		for _, id := range r.answers {
			if u := t.calls[[2]string{r.chain, id}]; u != nil {
				return u
			}
		}
	case claudeMeta:
		if r.source != "" {
			return t.calls[[2]string{r.chain, r.source}]
		}
	case claudeAttached:
		return parent
	}
	return nil
}

func (t *claudeTree) called(r *claudeRecord) {
	for _, id := range r.calls {
		t.calls[[2]string{r.chain, id}] = r.unit
	}
}
