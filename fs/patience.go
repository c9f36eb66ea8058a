package fs

import (
	"context"
	"time"
)

// interruptGrace is how much longer a request is worked on after a signal came to the process that asked.
const interruptGrace = 5 * time.Second

// patient is ctx, cancelled interruptGrace later. The kernel interrupts a request for any signal, and EINTR is
// an answer that programs do not expect of a regular file: a runtime that preempts its threads by
// signals, a timer or a child that ends must not make a read fail that would be done in a moment. Somebody who
// presses ^C at a slow one waits no longer than this.
func patient(ctx context.Context) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(interruptGrace, cancel)
		context.AfterFunc(late, func() { timer.Stop() })
	})
	return late, func() { stop(); cancel() }
}
