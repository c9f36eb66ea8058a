package fs

import (
	"bytes"
	"fmt"
	"testing"
)

// Two who ask the same at the same moment may find different things: who opens what he looked up
// gets that, and not the other's.
func TestAnAnswerIsOpenedAsItWasLookedUp(t *testing.T) {
	var s answers
	s.put("now", "a", []byte("one record"))
	s.put("now", "b", []byte("one record and one more"))
	for sum, want := range map[string]string{"a": "one record", "b": "one record and one more"} {
		if data, ok := s.get(sum); !ok || string(data) != want {
			t.Errorf("%s: %q, %t", sum, data, ok)
		}
	}
	if data, ok := s.of("now"); !ok || string(data) != "one record and one more" {
		t.Errorf("%q, %t", data, ok)
	}
}

// What was not used for long goes, and nothing is left of it.
func TestAnswersAreBounded(t *testing.T) {
	var s answers
	for i := range 100 {
		s.put(fmt.Sprint("state ", i), fmt.Sprint(i), bytes.Repeat([]byte{'a'}, maxAnswers/10))
		s.put("", fmt.Sprint(i), nil)
		s.put(fmt.Sprint("state ", i, " and no record more"), fmt.Sprint(i), nil)
	}
	if s.hashes.Len() != 10 || len(s.states) != 20 || s.hashes.Size() > maxAnswers {
		t.Errorf("%d answers of %d states take %d bytes", s.hashes.Len(), len(s.states), s.hashes.Size())
	}
	if _, ok := s.of("state 98"); !ok {
		t.Error("a new one is not kept")
	}
	if _, ok := s.of("state 0"); ok {
		t.Error("an old one is kept")
	}
	if _, ok := s.of(""); ok {
		t.Error("an answer without a state is that of another")
	}
}
