package jobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// Job is one transcript and the session that it goes into.
type Job struct {
	Transcript string `json:"transcript"` // absolute
	Format     string `json:"format"`
	Session    string `json:"session"` // its directory in a mount
	Cwd        string `json:"cwd,omitempty"`

	Ends   bool      `json:"ends,omitempty"` // the session is over when all is imported
	Wanted int       `json:"wanted"`         // how often an import was asked for
	Done   int       `json:"done"`           // the last of these that is answered
	Since  time.Time `json:"since"`          // of the first that is not
	Failed []string  `json:"failed,omitempty"`
}

// Key is the name of a job: two of one transcript and one session have the same.
func (j Job) Key() string {
	sum := sha256.Sum256([]byte(j.Session + "\x00" + j.Transcript))
	return hex.EncodeToString(sum[:16])
}

// Pending reports whether an import was asked for that is not done.
func (j Job) Pending() bool { return j.Done < j.Wanted }

const (
	stateSuffix = ".json"
	runSuffix   = ".run"
)

func (d Dir) state(key string) string { return filepath.Join(d.path, key+stateSuffix) }
func (d Dir) run(key string) string   { return filepath.Join(d.path, key+runSuffix) }

// ErrLost is that nobody works on a job that is not done: whoever did was ended.
var ErrLost = errors.New("the import ended before it was done; the next hook goes on with it")

// Want asks for an import. n is the number of the request. run is locked where nobody works on the job: the caller starts a process that
// inherits it, and closes it; else it is nil. It returns the error of ctx if another process has the job's state for that long.
func (d Dir) Want(ctx context.Context, j Job) (n int, run *os.File, err error) {
	f, err := locked(ctx, d.state(j.Key()), true)
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	was, known := read(f)
	if known {
		j.Wanted, j.Done, j.Since, j.Failed, j.Ends = was.Wanted, was.Done, was.Since, was.Failed, j.Ends || was.Ends
	}
	if !j.Pending() {
		j.Since = time.Now().UTC()
	}
	j.Wanted++
	if err := write(f, j); err != nil {
		if !known {
			os.Remove(f.Name())
		}
		return 0, nil, err
	}
	run, err = d.takeRun(j.Key())
	return j.Wanted, run, err
}

// takeRun takes the lock of who works on a job; nil if somebody does. The caller has the job's state.
func (d Dir) takeRun(key string) (*os.File, error) {
	f, err := tryLock(d.run(key), true)
	if errors.Is(err, errBusy) {
		return nil, nil
	}
	return f, err
}

// Begin notes that the session of a job is taken up again, so that no import that is under way ends it, and calls do meanwhile.
// It returns the error of do, or of ctx if another process has the job's state for that long.
func (d Dir) Begin(ctx context.Context, key string, do func() error) error {
	f, err := locked(ctx, d.state(key), false)
	if errors.Is(err, os.ErrNotExist) {
		return do()
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if j, ok := read(f); ok && j.Ends {
		j.Ends = false
		if err := write(f, j); err != nil {
			return err
		}
	}
	return do()
}

// Await waits until the n-th request for a job is answered. It returns the error of ctx, and [ErrLost] if nobody works on it any more.
func (d Dir) Await(ctx context.Context, key string, n int) error {
	for {
		f, err := locked(ctx, d.state(key), false)
		if errors.Is(err, os.ErrNotExist) {
			return nil // all is done
		}
		if err != nil {
			return err
		}
		j, _ := read(f)
		done := j.Done >= n || !j.Pending() // as of a file that somebody is about to begin
		var run *os.File
		if !done {
			run, err = d.takeRun(key)
		}
		if run != nil {
			run.Close()
			err = ErrLost
		}
		f.Close()
		if done || err != nil {
			return err
		}
		if err := sleep(ctx); err != nil {
			return err
		}
	}
}

// Most that is kept of failures: how many of one job, and characters of each.
const (
	maxFailures = 8
	maxFailure  = 500
)

// Later wraps an error of an import that is to be tried again by the next hook.
type Later struct{ Err error }

func (e Later) Error() string { return e.Err.Error() }

// Unwrap returns the error that e was made of.
func (e Later) Unwrap() error { return e.Err }

// Work does a job until no request is left, and calls end for a session that is over. run is the lock that [Dir.Want] gave. An error of do is kept
// for the next hook; after a [Later] the job stays as it is, too. It returns the errors of the job's files.
func (d Dir) Work(key string, run *os.File, do func(Job) error, end func(Job) error) error {
	defer run.Close()
	ctx := context.Background()
	for {
		f, err := locked(ctx, d.state(key), false)
		if err != nil {
			return err
		}
		j, ok := read(f)
		f.Close()
		if !ok {
			return fmt.Errorf("%s says nothing of a job", d.state(key))
		}
		n, failed := j.Wanted, do(j)

		if f, err = locked(ctx, d.state(key), false); err != nil {
			return err
		}
		if j, ok = read(f); !ok {
			f.Close()
			return fmt.Errorf("%s says nothing of a job", d.state(key))
		}
		over, err := d.answered(f, j, n, failed, end)
		if over { // before somebody else may ask for more, whoever else has inherited the descriptor
			err = errors.Join(err, unix.Flock(int(run.Fd()), unix.LOCK_UN))
		}
		f.Close()
		if over || err != nil {
			return err
		}
	}
}

// answered notes in the state of a job how its n-th request was answered. over reports whether nothing is left.
func (d Dir) answered(f *os.File, j Job, n int, failed error, end func(Job) error) (over bool, err error) {
	later := errors.As(failed, new(Later))
	if !later {
		j.Done = n
	}
	over = later || !j.Pending()
	if failed == nil && over && j.Ends {
		failed = end(j)
	}
	if failed != nil {
		line := strings.Join(strings.Fields(failed.Error()), " ")
		if utf8.RuneCountInString(line) > maxFailure {
			line = string([]rune(line)[:maxFailure]) + "…"
		}
		if len(j.Failed) == 0 || j.Failed[len(j.Failed)-1] != line {
			j.Failed = append(j.Failed, line)
		}
		j.Failed = j.Failed[max(0, len(j.Failed)-maxFailures):]
	}
	if over && !later && len(j.Failed) == 0 {
		return true, d.remove(j.Key())
	}
	return over, write(f, j)
}

func (d Dir) remove(key string) error {
	return errors.Join(os.Remove(d.run(key)), os.Remove(d.state(key)))
}

// Failures returns what went wrong with a job since it was asked last, and forgets it. It returns the error of ctx, and those of the job's files.
func (d Dir) Failures(ctx context.Context, key string) ([]string, error) {
	f, err := locked(ctx, d.state(key), false)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	j, ok := read(f)
	if !ok || len(j.Failed) == 0 {
		return nil, nil
	}
	failed := j.Failed
	j.Failed = nil
	if !j.Pending() {
		if run, err := d.takeRun(key); run != nil || err != nil {
			if run != nil {
				defer run.Close()
			}
			return failed, errors.Join(err, d.remove(key))
		}
	}
	return failed, write(f, j)
}

// All returns the jobs that are not done, or of which a failure is to be told. It waits for nobody.
func (d Dir) All() (all []Job) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), stateSuffix) {
			continue
		}
		f, err := os.Open(filepath.Join(d.path, e.Name()))
		if err != nil {
			continue
		}
		if j, ok := read(f); ok && j.Key()+stateSuffix == e.Name() {
			all = append(all, j)
		}
		f.Close()
	}
	return all
}

// Left takes over a job that is not done and on which nobody works: run is as of [Dir.Want]; it is nil if there is no such job. It returns
// the error of ctx, and those of the job's files.
func (d Dir) Left(ctx context.Context, key string) (run *os.File, err error) {
	f, err := locked(ctx, d.state(key), false)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if j, ok := read(f); !ok || !j.Pending() {
		return nil, nil
	}
	return d.takeRun(key)
}

// maxState bounds the state of a job, in bytes.
const maxState = 64 << 10

func read(f *os.File) (j Job, ok bool) {
	b, err := io.ReadAll(io.NewSectionReader(f, 0, maxState))
	return j, err == nil && json.Unmarshal(b, &j) == nil && j.Session != ""
}

// write puts a job's state in the place of what was there. Whoever is ended in between leaves what read takes for none.
func write(f *os.File, j Job) error {
	b, err := json.Marshal(j)
	if err == nil {
		_, err = f.WriteAt(append(b, '\n'), 0)
	}
	if err == nil {
		err = f.Truncate(int64(len(b)) + 1)
	}
	return err
}
