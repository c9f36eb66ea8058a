package runner

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// parentOf returns the parent of a process or thread.
func parentOf(pid int) (parent int, ok bool) {
	f := statFields(pid)
	if len(f) < 2 {
		return 0, false
	}
	parent, err := strconv.Atoi(string(f[1]))
	return parent, err == nil
}

// statFields returns the fields of /proc/<pid>/stat behind the name, which may hold anything: state, parent, ...
func statFields(pid int) [][]byte {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	return bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
}

// processes returns the pids of all processes that can be seen.
func processes() (pids []int) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// descendants returns what stands below this process, without the children that
// are spared and what stands below those.
func descendants(spared func(pid int) bool) (pids []int) {
	children := make(map[int][]int)
	for _, pid := range processes() {
		if parent, ok := parentOf(pid); ok {
			children[parent] = append(children[parent], pid)
		}
	}
	for _, pid := range children[os.Getpid()] {
		if !spared(pid) {
			pids = append(pids, pid)
		}
	}
	for i := 0; i < len(pids); i++ {
		pids = append(pids, children[pids[i]]...)
	}
	return pids
}

// maxPasses of stopping are enough for anything that a limit of processes bounds.
const maxPasses = 1000

// sweep kills the descendants of this process and says how many there were. It
// stops them first: one that forks without end would outrun a killer, but once
// stopped it holds its share of what the user may have.
func sweep(list func() []int) int {
	stopped := make(map[int]bool)
	var pids []int
	for range maxPasses {
		pids = list()
		fresh := false
		for _, pid := range pids {
			if !stopped[pid] {
				fresh, stopped[pid] = true, true
				unix.Kill(pid, unix.SIGSTOP)
			}
		}
		if !fresh {
			break
		}
	}
	for _, pid := range pids {
		unix.Kill(pid, unix.SIGKILL)
	}
	return len(pids)
}

// threadsOf counts the threads of a user, as far as they can be seen.
func threadsOf(uid uint32) (n uint64) {
	for _, pid := range processes() {
		var st unix.Stat_t
		if unix.Stat("/proc/"+strconv.Itoa(pid), &st) != nil || st.Uid != uid {
			continue
		}
		const threads = 17 // behind the name
		if f := statFields(pid); len(f) > threads {
			k, _ := strconv.ParseUint(string(f[threads]), 10, 64)
			n += k
		}
	}
	return n
}
