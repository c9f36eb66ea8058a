package embed

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/ctxfs/ctxfs/cluster/member"
)

// Run runs a server until ctx is done, and calls ready once it accepts connections. Settings that come
// over changes are taken while it runs: users come and go, and certificates are read anew. refused is
// called with the reason for those that the server does not take; it goes on with the old ones. Run
// returns nil when ctx is done, ErrConfig if the server refuses the first settings, and another error if
// it cannot listen or cannot read what it has.
func Run(ctx context.Context, c member.Server, changes <-chan member.Server, ready func(), refused func(error)) error {
	o, err := options(c)
	if err != nil {
		return err
	}
	s, err := server.NewServer(o)
	if err != nil {
		return fmt.Errorf("%w: %w", member.ErrConfig, err)
	}
	s.ConfigureLogger()
	go s.Start()
	defer s.WaitForShutdown()
	defer s.Shutdown()
	for !s.ReadyForConnections(time.Second) {
		if ctx.Err() != nil {
			return nil
		}
		if !s.Running() {
			return errors.New("the server does not start; its log says why")
		}
	}
	ready()
	ended := make(chan struct{})
	go func() { s.WaitForShutdown(); close(ended) }()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ended:
			return errors.New("the server has ended on its own; its log says why")
		case c := <-changes:
			o, err := options(c)
			if err == nil {
				err = s.ReloadOptions(o)
			}
			if err != nil {
				refused(err)
			}
		}
	}
}

// options returns the options of nats-server for settings, or ErrConfig.
func options(c member.Server) (*server.Options, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	key, err := diskKey(c.KeyFile)
	if err != nil {
		return nil, err
	}
	o := &server.Options{}
	if err := o.ProcessConfigString(Text(c, key)); err != nil {
		return nil, fmt.Errorf("%w: %w", member.ErrConfig, err)
	}
	if !o.SyncAlways {
		return nil, fmt.Errorf("%w: the server would not sync always", member.ErrConfig)
	}
	o.NoSigs, o.Logtime = true, true
	return o, nil
}

// diskKey reads the key for what lies on the disk, or makes one where there is none. It returns ErrConfig
// if others may read the file.
func diskKey(name string) (string, error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		if err := writeNew(name, []byte(rand.Text()+rand.Text()+"\n")); err != nil {
			return "", err
		}
		data, err = os.ReadFile(name)
	}
	if err != nil {
		return "", fmt.Errorf("the key for the disk: %w", err)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%w: key_file: others may read %s; chmod 600", member.ErrConfig, name)
	}
	key := strings.TrimSpace(string(data))
	if len(key) < 32 {
		return "", fmt.Errorf("%w: key_file: %s has no key of 32 characters", member.ErrConfig, name)
	}
	return key, nil
}

// writeNew makes a file that is on the disk when it returns, and that its owner alone reads. It fails if
// there is one.
func writeNew(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	dir, open := os.Open(filepath.Dir(name))
	if open != nil {
		return errors.Join(err, open)
	}
	return errors.Join(err, dir.Sync(), dir.Close())
}
