package world

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/ctxabi"
)

func (w *world) setAside(t *rapid.T) {
	name := fmt.Sprint("messages.jsonl-", len(w.aside))
	dir := filepath.Join(w.x.Dir(), ".ctxfs/quarantine")
	must(t, os.MkdirAll(dir, 0o700))
	must(t, os.WriteFile(filepath.Join(dir, name), []byte("{half"), 0o600))
	must(t, os.Chtimes(filepath.Join(dir, name), w.now, w.now))
	w.aside[name] = w.now
}

// litter leaves something of each kind, old enough to go by a policy that lets all go which nothing
// protects: what is drawn by chance may be of one kind in none of a run's worlds.
func (w *world) litter(t *rapid.T) {
	w.storeBlob(t)
	w.say(t)
	w.readPack(t)
	w.lookForRepeats(t)
	w.setAside(t)
	w.minRefs, w.packTTL, w.swapTTL = 3, 3*time.Hour, 3*time.Hour
	must(t, w.x.SetControl(ctxabi.PolicyFile, []byte("pack_ttl=3h\nswap_ttl=3h\ndedup_min_refs=3\n")))
	w.now = w.now.Add(31 * 24 * time.Hour)
}
