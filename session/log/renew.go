package log

// Renew calls swap, which replaces the files of logs of one session by others that begin with what the
// logs hold, and then opens the logs anew when they are used. Until swap returns nobody opens them; who
// reads meanwhile, or has a view, goes on with the files that are open. logs are messages and events, in
// this order, and the caller holds their turns. Renew returns the error of swap, of which nobody knows
// what it did: the logs take nothing more then until the store is opened again.
func Renew(swap func() error, logs ...*Log) error {
	var indexes []*logIndex
	for _, l := range logs {
		x := l.index()
		x.mu.Lock()
		defer x.mu.Unlock()
		indexes = append(indexes, x)
	}
	for _, l := range logs {
		l.mu.Lock()
		defer l.mu.Unlock()
	}
	if err := swap(); err != nil {
		for _, l := range logs {
			l.broken.Store(true)
		}
		return err
	}
	for i, l := range logs {
		indexes[i].dropLocked()
		l.retire()
		if l.few != nil {
			l.few.marks.forget()
		}
		l.known.Store(false)
	}
	return nil
}

// retire has the open files closed once nobody reads them any more. mu is held.
func (l *Log) retire() {
	if l.files == nil {
		return
	}
	few := l.asOneOfFew()
	few.retired = append(few.retired, l.files)
	l.files = nil
	l.set.forget(l)
	if l.users == 0 {
		few.closeRetired()
	}
}

// closeRetired closes files that were replaced. mu is held.
func (f *fewLogs) closeRetired() {
	for _, files := range f.retired {
		files.close() // all that was written to them was synced, or is there again
	}
	f.retired = nil
}
