package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
)

// mark is what stands in session.ClusterFile.
type mark struct {
	Cluster string `json:"cluster"` // id of the cluster's store
	Host    string `json:"host"`    // as which it was mounted last
}

// StoreOf returns the id of the cluster that the store in a directory is of; "" if there is no store, or it was never
// attached to a node, or that cannot be read from what stands there, which the next Attach replaces. It returns the
// error of the disk.
func StoreOf(dir string) (cluster string, err error) {
	var m mark
	data, err := os.ReadFile(filepath.Join(dir, session.ClusterFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err == nil && json.Unmarshal(data, &m) != nil {
		return "", nil
	}
	return m.Cluster, err
}

// otherCluster returns the error of a store that is of the cluster old, where cluster was reached.
func otherCluster(s *session.Store, old, cluster string) error {
	return ctxabi.E("mount", "", ctxabi.ErrProtected, "the store %s is of the cluster %s, and this one is %s; mount another store, with --store", s.Dir(), old, cluster)
}

// markStore notes durably that a store is of a cluster. It returns ctxabi.ErrProtected if it is of another one, and the
// error of the disk.
func markStore(s *session.Store, m mark) error {
	v, name := s.Disk().FS, s.Disk().Join(session.ClusterFile)
	data, err := vfs.ReadFile(v, name)
	var old mark
	switch {
	case err == nil && json.Unmarshal(data, &old) == nil && old.Cluster != m.Cluster:
		return otherCluster(s, old.Cluster, m.Cluster)
	case err == nil && old == m:
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", name, err)
	}
	if data, err = json.Marshal(m); err != nil {
		return err
	}
	dir := path.Dir(name)
	if err := v.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if err := vfs.WriteFile(v, name+".tmp", append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := v.Rename(name+".tmp", name); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return errors.Join(v.SyncDir(dir), v.SyncDir(s.Dir()))
}
