package session_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

// A store is made by opening it. One daemon at a time has it.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	s, err := session.Open(dir, session.Options{})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	_, err = session.Open(dir, session.Options{})
	fmt.Println("a second time:", errors.Is(err, ctxabi.ErrLocked))

	me := disk.Owner{UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Mode: 0o700}
	x, err := s.Create(ctxabi.Ref{UID: me.UID, Agent: "coder", Session: "fix-login"}, me)
	if err != nil {
		panic(err)
	}
	fmt.Println(x.Ref().Agent, x.Ref().Session, x.State())
	// Output:
	// a second time: true
	// coder fix-login idle
}

// Whole records are appended, all of a batch or none; a refused one changes nothing.
func ExampleLog_append() {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	s, err := session.Open(dir, session.Options{})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	me := disk.Owner{UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Mode: 0o700}
	x, err := s.Create(ctxabi.Ref{UID: me.UID, Agent: "coder", Session: "fix-login"}, me)
	if err != nil {
		panic(err)
	}
	ctx, history := context.Background(), x.Messages()
	add := func(lines string) error {
		_, err := history.Append(ctx, log.Batch{Data: []byte(lines), Writer: disk.Writer{UID: me.UID}})
		return err
	}
	if err := add(`{"role":"user","content":"The login fails."}` + "\n" + `{"role":"assistant","content":"I look."}` + "\n"); err != nil {
		panic(err)
	}
	fmt.Println("refused:", errors.Is(add("not a record\n"), ctxabi.ErrMalformed))
	if err := history.Sync(ctx); err != nil {
		panic(err)
	}
	n, err := history.Lines()
	if err != nil {
		panic(err)
	}
	fmt.Println(n, "records,", history.Len(), "bytes")
	io.Copy(os.Stdout, io.NewSectionReader(history, 0, history.Len()))
	// Output:
	// refused: true
	// 2 records, 86 bytes
	// {"role":"user","content":"The login fails."}
	// {"role":"assistant","content":"I look."}
}
