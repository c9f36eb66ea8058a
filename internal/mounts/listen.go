package mounts

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// answer is what a daemon says on its socket, to everybody: nothing that the table of mounts does not show.
type answer struct {
	Version string `json:"version"`
	Store   string `json:"store"`
}

// maxAnswer bounds what is read of one, in bytes.
const maxAnswer = 64 << 10

// socketName is the abstract name of the socket of the daemon whose mount has that device number. It is gone with its process.
func socketName(device string) string { return "@ctxfs/" + device }

// answerTime is how long one who asks may take to read the answer, which fits into the socket's buffer.
const answerTime = time.Second

// Patience with a name that is taken: by the daemon of a mount that had the number before, which is about to end.
const (
	firstWait = 10 * time.Millisecond
	lastWait  = 5 * time.Second
)

// Listen answers those who ask about the mount of store at point, which this process serves, until the returned function is
// called. It returns an error if there is no such mount. failed is called, from another goroutine, when no socket
// can be had: who asks finds out about the mount without it, only not as fast.
func Listen(point, store, version string, failed func(error)) (stop func(), err error) {
	all, err := Ctxfs()
	if err != nil {
		return nil, err
	}
	device := ""
	for _, i := range all {
		if i.Point == point && i.Source == store {
			device = i.Device
		}
	}
	if device == "" {
		return nil, fmt.Errorf("%s is not in the table of mounts", point)
	}
	words, err := json.Marshal(answer{version, store})
	if err != nil {
		return nil, err
	}
	return listen(device, append(words, '\n'), failed), nil
}

// listen answers on the socket of a device from the moment that its name is free.
func listen(device string, words []byte, failed func(error)) (stop func()) {
	quit, tried, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		l, err := net.Listen("unix", socketName(device))
		close(tried)
		for wait := firstWait; err != nil; wait *= 2 {
			if wait > lastWait {
				failed(err)
				return
			}
			select {
			case <-quit:
				return
			case <-time.After(wait):
			}
			l, err = net.Listen("unix", socketName(device))
		}
		serve(l, quit, words)
	}()
	<-tried
	return sync.OnceFunc(func() {
		close(quit)
		<-done
	})
}

// serve answers until quit is closed.
func serve(l net.Listener, quit <-chan struct{}, words []byte) {
	closed := make(chan struct{})
	go func() {
		<-quit
		l.Close()
		close(closed)
	}()
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			<-closed
			return
		}
		if err != nil { // out of descriptors, for now
			select {
			case <-quit:
			case <-time.After(firstWait):
			}
			continue
		}
		conn.SetDeadline(time.Now().Add(answerTime))
		conn.Write(words)
		conn.Close()
	}
}
