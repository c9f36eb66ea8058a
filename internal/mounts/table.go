package mounts

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Type is the type of a ctxfs mount in /proc/self/mountinfo.
const Type = "fuse.ctxfs"

// Info is one mount that this process sees.
type Info struct {
	Point  string // where: absolute, as the kernel has it
	Type   string // of the filesystem: "ext4", [Type]
	Source string // what is mounted: of a ctxfs the directory of its store
	Device string // "0:45", the same in all places and namespaces that show one mount
	User   string // uid of who mounted a FUSE, as the kernel knows it; "" of others
	Root   string // the directory of the filesystem that is mounted: "/" of one that is there as a whole
}

// Whole reports whether all of the filesystem is there, not a part of it as in most containers.
func (i Info) Whole() bool { return i.Root == "/" }

// Table lists what is mounted, of two mounts at one place the one on top
// later. It touches none of them: one may be dead and answer nothing. It returns the error of reading the table.
func Table() ([]Info, error) { return TableOf("self") }

// TableOf lists what the process pid sees mounted. It returns the error of reading the table.
func TableOf(pid string) ([]Info, error) {
	f, err := os.Open("/proc/" + pid + "/mountinfo")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parse(f)
}

// Ctxfs lists the mounts of ctxfs that this process sees. It returns the error of reading the table.
func Ctxfs() ([]Info, error) {
	all, err := Table()
	return slices.DeleteFunc(all, func(i Info) bool { return i.Type != Type }), err
}

// Own lists the mounts of ctxfs that root or the calling user made, the user's own before root's. Nobody is sent to the
// others unasked: any user may mount what he likes, call it a ctxfs, and name it after any store. It returns the error of reading the table.
func Own() ([]Info, error) {
	all, err := Ctxfs()
	ids, _ := os.ReadFile("/proc/self/uid_map")
	return ownOf(all, os.Getuid(), string(ids)), err
}

func ownOf(all []Info, uid int, uidMap string) []Info {
	all = filter(all, func(i Info) bool { return own(i, uid, uidMap) })
	mine := func(i Info) bool { return i.User == strconv.Itoa(uid) }
	return slices.Concat(filter(all, mine), filter(all, func(i Info) bool { return !mine(i) }))
}

func filter(all []Info, keep func(Info) bool) []Info {
	return slices.DeleteFunc(slices.Clone(all), func(i Info) bool { return !keep(i) })
}

func own(i Info, uid int, uidMap string) bool {
	if ids := strings.Fields(uidMap); len(ids) != 3 || ids[2] != "4294967295" {
		return true // in a rootless container this user has another number
	}
	return i.User == "0" || i.User == strconv.Itoa(uid)
}

// OfStore returns the mount of all of the store in directory dir; ok is false if there is none.
func OfStore(dir string) (i Info, ok bool) {
	all, _ := Ctxfs()
	if n := slices.IndexFunc(all, func(i Info) bool { return i.Source == dir && i.Whole() }); n >= 0 {
		return all[n], true
	}
	return i, false
}

// mostLinks is how many links are followed in one path, as the kernel has it.
const mostLinks = 40

// At returns the ctxfs mount that path p lies in, and what follows its mountpoint in p, "" for the mountpoint itself. A
// relative path begins at the working directory. The mount is not touched, nor is anything in it.
func At(p string) (i Info, rest string, ok bool) {
	if !filepath.IsAbs(p) {
		wd, err := unix.Getwd() // os.Getwd would stat it
		if err != nil || !filepath.IsAbs(wd) {
			return i, "", false // it is in no mount that can be seen
		}
		p = filepath.Join(wd, p)
	}
	all, _ := Ctxfs()
	return at(all, p)
}

func at(all []Info, p string) (i Info, rest string, ok bool) {
	done, left := "/", strings.Split(filepath.Clean(p), "/")
	for links := 0; ; {
		if i, rest, ok := inside(all, done, left); ok {
			return i, rest, true
		}
		if len(left) == 0 {
			return i, "", false
		}
		name := left[0]
		left = left[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			done = filepath.Dir(done)
			continue
		}
		done = filepath.Join(done, name)
		if slices.ContainsFunc(all, func(i Info) bool { return i.Point == done }) {
			continue // no link, and not to be asked
		}
		if target, err := os.Readlink(done); err == nil && links < mostLinks {
			links++
			left = slices.Concat(strings.Split(target, "/"), left)
			if done = filepath.Dir(done); filepath.IsAbs(target) {
				done = "/"
			}
		}
	}
}

// inside finds the innermost mount in which done lies with all that is left behind it, when done is a mountpoint. Of two at
// one place the later one is on top.
func inside(all []Info, done string, left []string) (i Info, rest string, ok bool) {
	if !slices.ContainsFunc(all, func(i Info) bool { return i.Point == done }) {
		return i, "", false
	}
	p := filepath.Join(done, filepath.Join(left...))
	for _, candidate := range all {
		if below, in := strings.CutPrefix(p+"/", strings.TrimSuffix(candidate.Point, "/")+"/"); in && len(candidate.Point) >= len(i.Point) {
			i, rest, ok = candidate, strings.TrimSuffix(below, "/"), true
		}
	}
	return i, rest, ok
}

// parse reads mountinfo(5): field 3 is the device, 4 the root, 5 the mountpoint; the type, the source and options follow " - ".
func parse(r io.Reader) (all []Info, err error) {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		before, after, _ := strings.Cut(s.Text(), " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if len(left) >= 5 && len(right) >= 2 {
			i := Info{Point: unescape.Replace(left[4]), Type: right[0], Source: unescape.Replace(right[1]), Device: left[2], Root: unescape.Replace(left[3])}
			for _, o := range strings.Split(right[len(right)-1], ",") {
				if uid, ok := strings.CutPrefix(o, "user_id="); ok && len(right) > 2 {
					i.User = uid
				}
			}
			all = append(all, i)
		}
	}
	return all, s.Err()
}

// unescape undoes the octal escapes of mountinfo.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
