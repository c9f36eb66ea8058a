package pack

// after is what the journal comes to once starts[i] is the boundary: zones fill it to its low mark.
func (f *fold) after(i int) int64 {
	s := f.starts[i]
	live := f.shown - s.shown
	if s.line == 1 {
		return live
	}
	kept := f.keptRecords(s)
	z := f.rules.zonesIn(f.rules.room - kept).all()
	if z == 0 {
		return kept + live
	}
	return max(f.low(kept), kept+live+z/3)
}

// low is what a compaction brings the journal to where so much of it stays as it is.
func (f *fold) low(kept int64) int64 {
	return f.rules.room - f.movable(kept)*(1000-f.rules.low)/1000
}

// movable is what marks and gains are shares of: the room, but no more than twice what is not kept anyway.
func (f *fold) movable(kept int64) int64 {
	return min(f.rules.room, 2*max(0, f.rules.room-kept))
}

// keptRecords is what the records before s take that stay as they are.
func (f *fold) keptRecords(s start) int64 {
	w := f.lead.shown
	first, user := f.keptUsers(s)
	if first > 0 && first != user {
		w += f.scaled(min(f.first.weight, f.rules.firstCap))
	}
	if user > 0 {
		w += f.scaled(f.rules.user.shown(s.user.weight))
	}
	return w
}

// keptUsers gives the lines of the first user record and of the last one that
// stand before s and are kept; they may be the same, 0 means none.
func (f *fold) keptUsers(s start) (first, user int) {
	if f.first.line < s.line && f.rules.firstCap > 0 {
		first = f.first.line
	}
	if !s.isUser {
		user = s.user.line
	}
	return first, user
}

// compact moves the boundary if that frees enough.
func (f *fold) compact() {
	newest := len(f.starts) - 1
	if newest == 0 {
		return
	}
	fits := func(i int) bool {
		s := f.starts[i]
		kept := f.keptRecords(s)
		return kept+f.shown-s.shown+f.rules.zonesIn(f.rules.room-kept).all() <= f.low(kept)
	}
	to := newest
	if fits(newest) {
		for to = 1; !fits(to); to++ {
		}
	}
	// Zones take less before a compaction frees too little.
	after, least := f.after(to), f.leastGain(f.starts[to])
	after = min(after, max(f.weight()-least, f.keptRecords(f.starts[to])+f.shown-f.starts[to].shown))
	if gain := f.weight() - after; gain <= 0 || gain < least {
		return
	}
	f.moveTo(to, after, byRoom)
}

// leastGain is what a compaction frees at least that makes s the boundary.
func (f *fold) leastGain(s start) int64 {
	return f.movable(f.keptRecords(s)) * f.rules.minGain / 1000
}
