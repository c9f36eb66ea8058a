package pack

import "slices"

// limits share one budget out. All are in tokens.
type limits struct {
	limit    int // budget − reserve; 0: no limit
	required int // exact, of all required blocks
	optional int // for all other blocks together
	footer   int // of these, for the footer
	room     int // for the journal
}

// minJournal is the least that required blocks must leave for the conversation.
const minJournal = 160

// share computes the limits. The journal's room depends on the recipe, the
// budget and the required blocks only, so that editing an optional block never
// refolds history.
func (r *oldRecipe) share(budget, required int) limits {
	l := limits{limit: max(0, budget-r.Reserve), required: required}
	if budget == 0 {
		return limits{required: required}
	}
	l.limit = max(1, l.limit)
	// Small edits of a required block shall not refold history either.
	step := min(512, max(16, l.limit/16))
	rounded := (required + step - 1) / step * step
	free := max(0, l.limit-required)

	l.footer = min(max(200, l.limit/20), l.limit/8)
	want := l.footer
	groups := map[string]bool{}
	for _, s := range r.Sources {
		if s.Cap > 0 && s.Phase != phaseDynamic && !groups[s.Group] {
			want += l.scaled(s.Cap)
			groups[s.Group] = s.Group != ""
		}
	}
	l.optional = min(want, l.limit*r.OptionalShare/1000)
	l.room = max(l.limit-rounded-l.optional, free*6/10)
	l.optional = min(l.optional, free-l.room)
	l.footer = min(l.footer, l.optional)
	return l
}

// scaled is a recipe's cap at this limit.
func (l limits) scaled(limit int) int {
	return int(int64(limit) * int64(l.limit) / capScale)
}

// spread shares room among wants: nobody gets more than it wants, and what one
// leaves the others may use.
func spread(room int, wants []int) []int {
	got := make([]int, len(wants))
	order := make([]int, len(wants))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return wants[a] - wants[b] })
	for i, at := range order {
		got[at] = min(wants[at], room/(len(order)-i))
		room -= got[at]
	}
	return got
}

// maxStep is the last of the steps that foldRules knows.
const maxStep = 24

// foldRules gives the numbers of a fold. Weights are estimates: should the
// exact count of the pack overflow, or should one group of calls and results
// not fit, the next step is tried. Which one fits is a function of the inputs.
// Steps 1 to 6 let weights count for more; 7 to 14 also show less of
// large records; then the boundary may fall inside a group and the kept
// records are shortened too; the last ones keep none but the last request.
func (r *oldRecipe) foldRules(l limits, step int) foldRules {
	if l.limit == 0 {
		return foldRules{scale: 1000}
	}
	overhead := min(64, l.room/8) // the conversation's heading and the notes of what is left out
	room := max(1, l.room-overhead)
	f := foldRules{
		room:     int64(room) * int64(r.History.High) / 1000,
		low:      int64(r.History.Low),
		minGain:  int64(r.History.MinGain),
		scale:    1000,
		leadCap:  min(l.limit/2, room/2),
		firstCap: min(l.limit/10, room/5),
	}
	most := min(l.limit/4, room/2)
	f.other = shareRule{above: most, to: most}
	f.user = f.other
	f.user.exact = most + 32 // a promise: weights err upwards, and a heading is not the user's
	tool := min(max(toolFloor, room/8), toolMost, room/3)
	f.tool = shareRule{above: tool, to: tool}

	for range min(step, 6) {
		f.scale = f.scale * 11 / 10
	}
	if step > 0 {
		f.minGain = 0
	}
	for range min(max(step-6, 0), 8) {
		f.tool = f.tool.less()
		f.other = f.other.less()
	}
	if step > 14 {
		f.anywhere = true
		for range step - 15 {
			f.scale = f.scale * 13 / 10
			f.user = f.user.less()
			f.leadCap = f.leadCap * 2 / 3
			f.firstCap = f.firstCap * 2 / 3
		}
		if step > 20 {
			f.leadCap, f.firstCap = 0, 0
		}
	}
	return f
}

// What a tool result may show, in tokens: 1500 characters or an eighth of the room, whichever is more, but never above toolMost.
const (
	toolFloor = 400
	toolMost  = 3000
)

// less is two thirds of a share, down to a heading and the note that names the record's path.
func (s shareRule) less() shareRule {
	to := max(36, s.to*2/3)
	return shareRule{above: to, to: to}
}
