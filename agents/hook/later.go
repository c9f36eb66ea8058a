package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/agents/transcript"
	"github.com/ctxfs/ctxfs/internal/jobs"
	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/internal/process"
)

// job is the import of the transcript of a hook.
func (h *input) job(dir string) jobs.Job {
	return jobs.Job{Transcript: h.Transcript, Format: h.program, Session: dir, Cwd: h.Cwd, Ends: h.Event == "SessionEnd"}
}

// keep has what is new of the transcript imported, and waits for it for a while. It returns what went wrong until then.
// Where no process can go on with it, as where there is no room to note what is to be done, it imports itself.
func (h *input) keep(dir string, o Options) error {
	ctx, cancel := o.until(patience)
	defer cancel()
	all, err := jobs.Open()
	if err != nil || o.Start == nil {
		return h.keepNow(dir, o)
	}
	j := h.job(dir)
	n, run, err := all.Want(ctx, j)
	if err != nil && !isOver(err) {
		return h.keepNow(dir, o)
	}
	if err != nil {
		return err
	}
	if run != nil {
		err = o.Start(all.Path(), j.Key(), run)
		run.Close()
	}
	if err == nil && !h.hurries {
		err = all.Await(ctx, j.Key(), n)
	}
	if err != nil && !isOver(err) {
		return err
	}
	return failures(ctx, all, j.Key())
}

// keepNow imports what is new of the transcript.
func (h *input) keepNow(dir string, o Options) error {
	j := h.job(dir)
	err := importJob(j, o.Import)
	if err == nil && j.Ends {
		err = writeState(dir, "done")
	}
	return err
}

// failures returns what went wrong with a job, as one error.
func failures(ctx context.Context, all jobs.Dir, key string) error {
	failed, err := all.Failures(ctx, key)
	if len(failed) > 0 {
		return errors.New(strings.Join(failed, "; "))
	}
	if isOver(err) {
		return nil // the next hook asks
	}
	return err
}

// begin notes that the session is worked in, whatever import of it is under way.
func (h *input) begin(ctx context.Context, dir string) error {
	active := func() error {
		process.Sweep(filepath.Dir(filepath.Dir(dir)))
		_ = process.Record(dir) // without the note no server takes the session for its own; the agent gets its memory anyway
		return writeState(dir, "active")
	}
	all, err := jobs.Open()
	if err != nil {
		return active()
	}
	return all.Begin(ctx, h.job(dir).Key(), active)
}

// mostStarted is how many imports that nobody works on a hook takes up.
const mostStarted = 4

// missing takes up imports into sessions of the mount of dir that were left undone, waits a little for those of the session and of
// its workspace, and returns those that are not done by then. What went wrong with any of them it says.
func (h *input) missing(ctx context.Context, dir string, o Options) (undone []jobs.Job) {
	all, err := jobs.Open()
	if err != nil || o.Start == nil {
		return nil
	}
	mount, _, _ := mounts.At(dir)
	started := 0
	for _, j := range all.All() {
		if in, _, ok := mounts.At(j.Session); !ok || in != mount {
			continue
		}
		if j.Pending() && started < mostStarted {
			if run, err := all.Left(ctx, j.Key()); err == nil && run != nil {
				started++
				if err := o.Start(all.Path(), j.Key(), run); err != nil && o.Warn != nil {
					o.Warn(err.Error())
				}
				run.Close()
			}
		}
		if j.Pending() && (j.Session == dir || j.Cwd != "" && j.Cwd == h.Cwd) {
			undone = append(undone, j)
		}
		if err := failures(ctx, all, j.Key()); err != nil && o.Warn != nil {
			o.Warn(err.Error())
		}
	}
	wait, cancel := o.until(patience / 2)
	defer cancel()
	left := undone[:0]
	for _, j := range undone {
		if all.Await(wait, j.Key(), j.Wanted) != nil {
			left = append(left, j)
		}
	}
	return left
}

// Work goes on with the import of a job in a directory of jobs, as the process that [Options.Start] started: run is what it got. It returns the errors of
// the job's files; what goes wrong with the import the next hook says.
func Work(dir, key string, run *os.File, importer Importer) error {
	return jobs.At(dir).Work(key, run,
		func(j jobs.Job) error { return importJob(j, importer) },
		func(j jobs.Job) error { return writeState(j.Session, "done") })
}

// importJob imports what is new of a transcript. Programs may share a session; one waits for the other, so that neither takes what the
// other is about to. A job whose mount is away, or does not answer, is to be done later.
func importJob(j jobs.Job, importer Importer) error {
	if _, _, ok := mounts.At(j.Session); !ok {
		return jobs.Later{Err: fmt.Errorf("%s is not recorded: %s is not mounted", j.Transcript, j.Session)}
	}
	if err := cmp.Or(answers(j.Session), answers(j.Transcript)); err != nil {
		return jobs.Later{Err: fmt.Errorf("%s is not recorded: %w", j.Transcript, err)}
	}
	lock, err := os.Open(j.Session)
	if err != nil {
		return fmt.Errorf("%s is not recorded: %w", j.Transcript, err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return err
	}
	if err := importer(j.Transcript, j.Format, j.Session); err != nil && !errors.Is(err, transcript.ErrNothing) {
		return fmt.Errorf("%s: %w", j.Transcript, err)
	}
	return nil
}

// until returns a context that ends when so much of the time of an answer has passed.
func (o Options) until(part float64) (context.Context, context.CancelFunc) {
	if o.Time == 0 {
		return context.WithCancel(context.Background())
	}
	return context.WithTimeout(context.Background(), time.Duration(part*float64(o.Time)))
}

// isOver reports whether a wait ended because its time was over.
func isOver(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}
