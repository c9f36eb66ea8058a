package session

// Loaded calls yield for every session that was looked up since the store was opened.
func (s *Store) Loaded(yield func(*Session) bool) {
	s.mu.Lock()
	loaded := make([]*Session, 0, len(s.sessions))
	for _, x := range s.sessions {
		loaded = append(loaded, x)
	}
	s.mu.Unlock()
	for _, x := range loaded {
		if !yield(x) {
			return
		}
	}
}
