package daemon

import (
	"context"
	"errors"
	"testing"
	"time"
)

// A mount that does not answer is not reported as one that does.
func TestWatchTellsWhatTheMountAnswers(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	hangs := errors.New("it hangs")
	answers := []error{nil, hangs, nil}
	var told []error
	watch(ctx, time.Nanosecond, func(context.Context) error { return answers[len(told)] }, func(err error) {
		if told = append(told, err); len(told) == len(answers) {
			cancel()
		}
	})
	for i, err := range answers {
		if told[i] != err {
			t.Errorf("touch %d: told %v, want %v", i, told[i], err)
		}
	}
}
