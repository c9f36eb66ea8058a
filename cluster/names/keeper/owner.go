package keeper

import (
	"crypto/sha256"
	"fmt"
	"path"
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// owner is a user or a space whose names are kept.
type owner struct {
	k       *Keeper
	ref     ctxabi.Ref
	subject engine.Subject
	replica *names.Replica
	news    chan struct{} // readable when entries came

	queue     sync.Mutex // guards what follows
	came      []arrival  // entries that were read
	stale     error      // why the journal could not be read when it was tried last
	looking   *look      // that is under way; nil: none
	confirmed time.Time  // all that stood in the journal then is true
	entered   bool       // what a crash left was committed

	turn    sync.Mutex // held by who commits, or makes entries true; guards what follows
	copy    *localCopy
	touched names.Touched              // what may differ between the states of the copy
	writing string                     // the file whose content is being committed
	wrote   string                     // that content's hash; "" in a rename
	late    map[names.Place]names.Node // files that could not be made true, and what is on the disk instead
	unsaved map[string]bool            // files that were changed here and could not be committed
}

// arrival is an entry that the replica has applied; with a state, if it went on from a snapshot.
type arrival struct {
	from  engine.Entry
	state *names.State
}

// fileOf returns a row of a file.
func fileOf(name string, n names.Node) names.File {
	return names.File{Path: name, Hash: n.Hash, Size: n.Size, Mode: n.Mode, UID: n.UID, GID: n.GID, MTime: n.MTime, Xattrs: n.Xattrs}
}

// changing reports whether the content of a file on the disk is that of somebody who will commit it himself.
func (o *owner) changing(name string) bool {
	return name == o.writing || o.k.o.Changing(path.Join(o.ref.Owner(), name))
}

// home returns the path of an agent's home in the store.
func (o *owner) home(agent string) string {
	ref := o.ref
	ref.Agent = agent
	return ref.AgentHome()
}

// do makes one change of the disk.
func (o *owner) do(what string, change func() error) error {
	if err := o.k.step(what); err != nil {
		return err
	}
	if err := change(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// Hash returns the SHA-256 value of data in hexadecimal, which is what content is called.
func Hash(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }
