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
)

// Run runs a server until ctx is done, and calls ready once it accepts connections. It returns nil then,
// ErrConfig if the server refuses the settings, and another error if it cannot listen or cannot read
// what it has.
func Run(ctx context.Context, c Config, ready func()) error {
	if err := c.Check(); err != nil {
		return err
	}
	key, err := diskKey(c.KeyFile)
	if err != nil {
		return err
	}
	o := &server.Options{}
	if err := o.ProcessConfigString(c.Text(key)); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if !o.SyncAlways {
		return fmt.Errorf("%w: the server would not sync always", ErrConfig)
	}
	o.NoSigs, o.Logtime = true, true
	s, err := server.NewServer(o)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
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
	select {
	case <-ctx.Done():
		return nil
	case <-ended:
		return errors.New("the server has ended on its own; its log says why")
	}
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
		return "", fmt.Errorf("%w: key_file: others may read %s; chmod 600", ErrConfig, name)
	}
	key := strings.TrimSpace(string(data))
	if len(key) < 32 {
		return "", fmt.Errorf("%w: key_file: %s has no key of 32 characters", ErrConfig, name)
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
