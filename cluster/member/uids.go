package member

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
)

// People are the uids that belong to people on usual systems, 1,000 to 59,999.
const (
	firstPerson = 1000
	lastPerson  = 59999
)

// people returns the users of this machine, by name. Those of a directory service that a system does not
// list are not among them.
func people() map[string]uint32 {
	list := map[string]uint32{}
	f, err := os.Open("/etc/passwd")
	if err != nil {
		return list
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), ":")
		if len(fields) < 4 {
			continue
		}
		if uid, err := strconv.ParseUint(fields[2], 10, 32); err == nil && uid >= firstPerson && uid <= lastPerson {
			list[fields[0]] = uint32(uid)
		}
	}
	return list
}

// CheckUids returns ErrConfig if users have other uids on this machine, of those whom it serves, than where the cluster was
// made. Join refuses that; users may come later.
func (m Machine) CheckUids() error { return compareUids(m.Uids, m.Owners) }

// compareUids returns ErrConfig with all users that are known here under another uid, or whose uid is
// somebody else's here. It looks at those that are among the owners, at all if there are none.
func compareUids(there map[string]uint32, owners []string) error {
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(there)) {
		uid := there[name]
		if len(owners) > 0 && !slices.Contains(owners, fmt.Sprint("u", uid)) {
			continue
		}
		if u, err := user.Lookup(name); err == nil && u.Uid != fmt.Sprint(uid) {
			wrong = append(wrong, fmt.Sprintf("%s is %s here and %d there", name, u.Uid, uid))
			continue
		}
		if u, err := user.LookupId(fmt.Sprint(uid)); err == nil && u.Username != name {
			wrong = append(wrong, fmt.Sprintf("%d is %s here and %s there", uid, u.Username, name))
		}
	}
	if wrong != nil {
		return fmt.Errorf("%w: uids must mean the same on all hosts: %s", ErrConfig, strings.Join(wrong, "; "))
	}
	return nil
}
