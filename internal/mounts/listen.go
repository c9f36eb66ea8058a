package mounts

import (
	"crypto/sha256"
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

// socketName is the abstract name of the socket of the daemon that serves the mount. It is gone with its process. A device number alone
// would not do: the kernel gives it to the next mount while a process that was stopped still has its socket.
func socketName(device, store string) string {
	return fmt.Sprintf("@ctxfs/%s/%x", device, sha256.Sum256([]byte(store)))[:maxName]
}

// maxName is how long the name of a socket can be, in bytes.
const maxName = 64

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
	return listen(socketName(device, store), append(words, '\n'), failed), nil
}

// listen answers on a socket from the moment that its name is free.
func listen(name string, words []byte, failed func(error)) (stop func()) {
	quit, tried, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		l, err := net.Listen("unix", name)
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
			l, err = net.Listen("unix", name)
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
