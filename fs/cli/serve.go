package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/fs"
	"github.com/ctxfs/ctxfs/gc"
	"github.com/ctxfs/ctxfs/gc/world"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/memory"
	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/internal/volume"
	"github.com/ctxfs/ctxfs/pack/builder"
	"github.com/ctxfs/ctxfs/run/runner"
	"github.com/ctxfs/ctxfs/search"
	searchcli "github.com/ctxfs/ctxfs/search/cli"
	"github.com/ctxfs/ctxfs/session"
)

// serve mounts and serves until the mount is gone or a signal ends it. It is
// the daemon, whether it was started in the foreground or by daemonise.
func serve(ctx context.Context, f mountFlags, out io.Writer) (err error) {
	ready := readyPipe()
	level, err := f.level()
	if err != nil {
		return err
	}
	takeSockets() // before anything is started that would inherit them
	output := daemon.Log{Background: ready.open()}
	log := slog.New(output.Handler(level))
	logged := false
	defer func() { err = ready.failed(err, log, logged) }()

	redactor, err := f.redact.Redactor()
	if err != nil {
		return err
	}
	if err := freeMountpoint(f.mountpoint); err != nil {
		return err
	}
	takeBack := newStore(f)
	limit := memory.OfProcess()
	store, err := f.openStore(session.Options{Logger: log, Shown: builder.Shown(redactor), Memory: limit})
	if err != nil {
		return err
	}
	f.readOnly = f.readOnly || store.Disk().ReadOnly
	served := false
	defer func() {
		if !served {
			takeBack(store)
		}
		err = cmp.Or(err, store.Close())
	}()

	// From here on a background daemon has a log; what it says before, its user sees.
	if ready.open() {
		if err := f.openLog(&output); err != nil {
			return err
		}
		logged = true
	}
	stop := make(chan os.Signal, 2)
	signal.Notify(stop, unix.SIGTERM, unix.SIGINT)
	signal.Ignore(unix.SIGHUP, unix.SIGPIPE)

	docker, err := listenForDocker(f.volumes) // before the mount: what keeps it from listening is said at once
	if err != nil {
		return err
	}
	if docker != nil {
		defer docker.Close()
	}
	info := daemon.Info{
		PID: os.Getpid(), Mountpoint: f.mountpoint, Store: f.store,
		Budget: f.budget, Encoding: f.encoding, Maps: f.maps, Redact: f.redact.On, RedactAllow: f.redact.Allow, Started: time.Now().UTC().Truncate(time.Second),
	}
	if err := info.Write(); err != nil {
		// A full disk must not prevent reading the store.
		log.Warn("the other verbs will not find this daemon's settings", "err", err)
	}
	ended := ""    // why the mount was taken from this daemon
	defer func() { // after the runner, which writes info too
		info.Ended = ended
		info.End()
	}()
	workspace, err := runner.Start(ctx, func(times int, err error) {
		log.Error("the runner process ended; ctxfs starts it again", "times", times, "reason", err)
		info.RunnerEnds, info.RunnerEnded = times, time.Now().UTC().Truncate(time.Second)
		if err := info.Write(); err != nil {
			log.Warn("ctxfs doctor will not report that the runner process ended", "err", err)
		}
	})
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, workspace.Close()) }()

	mapPath, err := cli.ParseMaps(f.maps)
	if err != nil {
		return err
	}
	packs, err := builder.NewBuilder(builder.Config{
		Budget: f.budget, Encoding: f.encoding, Workspace: workspace, MapPath: mapPath,
		Generators: workspace, Mountpoint: f.mountpoint, Redact: redactor, Memory: limit,
	})
	if err != nil {
		return err
	}
	endGenerators := sync.OnceFunc(packs.Close)
	defer endGenerators()
	engine, err := searchcli.NewEngine(store, search.Config{
		Logger: log, Redact: redactor, Limit: limit, ReadOnly: store.Disk().ReadOnly,
	}, f.encoding)
	if err != nil {
		return err
	}
	defer engine.Close()
	collector := world.New(store, packs, gc.Options{Grace: f.gcGrace, Logger: log})
	defer collector.Close()
	if err := f.makeMountpoint(); err != nil {
		return err
	}
	server, err := fs.Mount(ctx, fs.Options{
		Store: store, Builder: packs, Search: engine, Collector: collector, Mountpoint: f.mountpoint, ReadOnly: f.readOnly, NoExec: f.noExec, Logger: log, Debug: f.fuseDebug, Memory: limit,
		Returns: os.Getenv("NOTIFY_SOCKET") != "",
	})
	if err != nil {
		return orBusy(f.mountpoint, err)
	}
	served = true
	stopAnswers, err := mounts.Listen(f.mountpoint, f.store, ctxabi.Version, func(err error) {
		log.Warn("nobody can ask this daemon without touching its mount", "err", err)
	})
	if err != nil { // somebody unmounted it already
		log.Warn("nobody can ask this daemon", "err", err)
	} else {
		defer stopAnswers()
	}
	endClients := endGenerators
	if docker != nil {
		volumes, err := volume.Open(filepath.Join(f.store, session.VolumesFile), f.mountpoint, server)
		if err != nil {
			return errors.Join(err, server.Shutdown(0))
		}
		plugin := volume.Serve(docker, volumes, log)
		defer plugin.Close()
		endClients = func() {
			plugin.Close() // before the tree goes, to which it would send containers
			endGenerators()
		}
	}
	log.Info("serving", "mountpoint", f.mountpoint, "store", f.store, "pid", os.Getpid(), "version", ctxabi.Version)
	if limit != nil {
		log.Info("memory is limited", "bytes", limit.Bytes())
	}
	serving := fmt.Sprintf("serving %s from %s", f.mountpoint, f.store)
	tellSystemd(log, systemd.SdNotifyReady, serving)
	if output.Journal() { // it has the line above
		out = io.Discard
	}
	ready.succeeded(out, serving, strayNotice(f.mountpoint, f.store, server.Strays()))
	defer f.collect(store, collector)()
	e := newEnding(server, stop, endClients, f, log)
	defer e.watchTable()()
	defer daemon.Watch(f.mountpoint, log)()
	ended, err = e.wait()
	return err
}

// strayNotice returns a notice for the user of a mount if the daemon moved stray files from its
// mountpoint to strays; "" if it moved none.
func strayNotice(point, store, strays string) string {
	if strays == "" {
		return ""
	}
	return fmt.Sprintf("ctxfs: files were written at %s while nothing was mounted there; they were moved to %s. "+
		"To import their records, see: ctxfs doctor --store %s\n", point, strays, store)
}

// openLog opens the log of a background daemon. A store on a read-only disk has no log. It returns
// an error if it cannot open the file.
func (f *mountFlags) openLog(output *daemon.Log) error {
	if f.readOnly && unix.Access(filepath.Dir(f.log), unix.W_OK) != nil {
		f.log = os.DevNull
	}
	return output.ToFile(f.log, locate.Inside(f.log, f.store))
}

// collect starts the collector of a writable store. The caller must call stop to end it.
func (f *mountFlags) collect(store *session.Store, c *world.Collector) (stop func()) {
	if f.gcInterval == 0 || store.Disk().ReadOnly {
		return func() {}
	}
	return c.Start(f.gcInterval)
}

// openStore opens the store of the mount.
func (f *mountFlags) openStore(o session.Options) (*session.Store, error) {
	if _, missing := os.Lstat(filepath.Join(f.store, session.StoreFile)); f.readOnly && missing == nil {
		o.ReadOnly, o.Locked = true, true // a store of an older format keeps it
	}
	return cli.OpenStore(f.store, o)
}

// makeMountpoint makes the mountpoint where none is and --mkdir asks for one.
func (f *mountFlags) makeMountpoint() error {
	if _, err := os.Lstat(f.mountpoint); !f.mkdir || !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return os.MkdirAll(f.mountpoint, 0o755)
}

// newStore looks whether there is a store, before one is made. It gives what takes a new one away again, for a mount that fails:
// a mistyped --store leaves nothing behind.
func newStore(f mountFlags) (takeBack func(*session.Store)) {
	_, noStore := os.Lstat(filepath.Join(f.store, session.StoreFile))
	_, noDir := os.Lstat(f.store)
	return func(s *session.Store) {
		if !errors.Is(noStore, os.ErrNotExist) {
			return
		}
		if s.Discard() != nil {
			return
		}
		if locate.Inside(f.log, f.store) {
			os.Remove(f.log) // whoever waits for the mount is told what is in it
		}
		if noDir != nil {
			os.Remove(f.store)
		}
	}
}

// listenForDocker returns the socket of the volume plugin: what systemd passed, else a new one at path; nil
// when neither is wanted.
func listenForDocker(path string) (net.Listener, error) {
	l, err := passedSocket(volumeSocket)
	if l != nil || err != nil || path == "" {
		return l, err
	}
	return volume.Listen(path)
}

// freeMountpoint takes away what a daemon that was killed has left there, on top of others perhaps. A mount that does not
// answer for another reason is not touched: looking at it would hang.
func freeMountpoint(point string) error {
	for {
		i, rest, ok := mounts.At(point)
		if !ok {
			return nil
		}
		if rest != "" { // which is refused later, with its reason, if it can be looked at
			_, err := daemon.Ask(i)
			return err
		}
		switch m, err := clearMount(i); {
		case err != nil:
			return err
		case m.State == mounts.Answers:
			return nil // it is busy, which is said later
		case m.State == mounts.Silent || m.State == mounts.Stopped:
			return daemon.BusyError{Err: mounts.SilentError{Mount: m}}
		}
	}
}

// clearMountsOf takes the mounts of a store away whose daemon was killed and waits in the kernel for one of them: it holds
// the lock of the store until they are gone.
func clearMountsOf(store string) {
	all, _ := mounts.Own()
	for _, i := range all {
		if i.Source == store {
			clearMount(i)
		}
	}
}
