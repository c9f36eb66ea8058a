package recall

import "testing"

func TestAsks(t *testing.T) {
	for request, want := range map[string]bool{
		"Where is the key?": true, "where is the key": true, "Look at it. Which one is older": true, "He asked (really?)": true,
		"Remind me of the name.": true, "Yes, please go ahead.": false, "Fix a?.b in x.go, then run it.": false, "": false, "Tell it that he knows what to do.": false,
	} {
		if Asks(request) != want {
			t.Errorf("%q asks: %v", request, !want)
		}
	}
}
