package runner

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// What a command may use. Its processes are bounded twice: by RLIMIT_NPROC,
// which counts all of its user's threads and is therefore set moreThreads above what the
// user has, and in a PID namespace, where the kernel can (6.14), by a small
// pid_max, which bounds root as well.
const (
	maxDescriptors = 1024
	maxWritten     = 64 << 20 // bytes of one file; what is larger is no content for a pack
	maxData        = 4 << 30  // bytes of private memory of one process; not RLIMIT_AS, as runtimes reserve far more than they use
	moreThreads    = 256
	maxPIDs        = 1024
)

// as is what a shim is told in its environment, as JSON.
type as struct {
	UID    uint32 `json:"uid"`
	GID    uint32 `json:"gid"`
	UserNS bool   `json:"userns,omitempty"`
}

const asEnv = "CTXFS_RUNNER_AS"

// shimAttrs returns the ways to start a shim, the most confining first.
func shimAttrs(euid uint32, plain bool) (ways []*syscall.SysProcAttr) {
	if !plain {
		ns := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL, Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS}
		if euid != 0 {
			gid := os.Getegid()
			ns.Cloneflags |= unix.CLONE_NEWUSER
			ns.UidMappings = []syscall.SysProcIDMap{{ContainerID: int(euid), HostID: int(euid), Size: 1}}
			ns.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
			ns.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP} // within the namespace, for the shim alone
		}
		ways = append(ways, ns)
	}
	// Without a namespace nothing kills what the shim started when the shim
	// dies, so that it does not die with the broker: it ends with its socket.
	return append(ways, &syscall.SysProcAttr{Setsid: true})
}

// startShim starts a shim as confined as the system allows and hands its socket to the client.
func (b *broker) startShim(o order) (*exec.Cmd, error) {
	var failed error
	for _, way := range shimAttrs(b.euid, o.Plain) {
		cmd, client, theirs, err := command(roleShim, unix.SOCK_STREAM)
		if err != nil {
			return nil, err
		}
		who, err := json.Marshal(as{o.UID, o.GID, way.Cloneflags&unix.CLONE_NEWUSER != 0})
		if err != nil {
			panic(err) // numbers
		}
		cmd.Env = append(cmd.Env, asEnv+"="+string(who))
		cmd.SysProcAttr = way
		if failed = b.bear(cmd); failed == nil {
			b.tell(started{Reader: o.Reader, PID: cmd.Process.Pid}, client)
		}
		client.Close()
		theirs.Close()
		if failed == nil {
			return cmd, nil
		}
	}
	return nil, failed
}

// endOrphans ends what a shim left behind that was killed: it is the broker's now.
func (b *broker) endOrphans() {
	list := func() []int {
		b.births.Lock() // a child that is being born is not an orphan
		defer b.births.Unlock()
		return descendants(func(pid int) bool {
			_, known := b.known.Load(pid)
			return known
		})
	}
	for sweep(list) > 0 {
		for _, pid := range list() {
			unix.Wait4(pid, nil, unix.WNOHANG, nil) // those that are not our children yet come later
		}
		time.Sleep(time.Millisecond)
	}
}

// level is how far a run is confined.
type level struct {
	pidNS, userNS, ownProc, fewPIDs bool
	ownMounts                       bool // what is mounted here is mounted nowhere else
}

// enter confines the shim itself as far as that binds what it starts.
func enter(who as) (l level) {
	l.pidNS, l.userNS = os.Getpid() == 1, who.UserNS
	if !l.pidNS {
		return l
	}
	// A mount of the system that goes away goes away here, too.
	if l.ownMounts = unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, "") == nil; l.ownMounts {
		l.ownProc = unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "") == nil
	}
	if kernelHas(6, 14) { // before, pid_max was that of the whole system
		l.fewPIDs = os.WriteFile("/proc/sys/kernel/pid_max", fmt.Append(nil, maxPIDs), 0) == nil
	}
	return l
}

func kernelHas(major, minor int) bool {
	var u unix.Utsname
	var a, b int
	if unix.Uname(&u) != nil {
		return false
	}
	if _, err := fmt.Sscanf(unix.ByteSliceToString(u.Release[:]), "%d.%d", &a, &b); err != nil {
		return false
	}
	return a > major || a == major && b >= minor
}

// words are the level for a pack's report: the same words for the same level.
func (l level) words(uid uint32) string {
	parts := []string{fmt.Sprintf("uid %d, no capabilities, no_new_privs, rlimits", uid)}
	if l.userNS {
		parts = append(parts, "user namespace")
	}
	if l.pidNS {
		parts = append(parts, "pid namespace")
	} else {
		parts = append(parts, "no pid namespace")
	}
	if l.ownProc {
		parts = append(parts, "own /proc")
	}
	if uid == 0 && !l.fewPIDs {
		parts = append(parts, "no limit of processes")
	}
	return strings.Join(parts, ", ")
}

// limits are the rlimits of a command that may run for timeout, as a user who has so many threads.
func limits(timeout time.Duration, threads uint64) map[int]uint64 {
	seconds := uint64((timeout+time.Second-1)/time.Second) + 1
	return map[int]uint64{
		unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: maxDescriptors, unix.RLIMIT_FSIZE: maxWritten, unix.RLIMIT_DATA: maxData,
		unix.RLIMIT_NPROC: threads + moreThreads,
		unix.RLIMIT_CPU:   seconds * uint64(runtime.NumCPU()), // of all threads of a process
	}
}

// dropBounds empties the calling thread's bounding and ambient sets, so that
// what it starts cannot gain a capability, root included.
func dropBounds() {
	for c := uintptr(0); c < 64; c++ {
		unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) // where that is not allowed there is nothing to gain from, due to no_new_privs
	}
	unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
}

// renounce takes every capability and the way to new ones from the calling thread.
func renounce() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	var none [2]unix.CapUserData
	if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	return nil
}
