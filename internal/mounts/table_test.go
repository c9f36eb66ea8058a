package mounts

import (
	"slices"
	"strings"
	"testing"
)

func TestTheTableOfMountsIsRead(t *testing.T) {
	const mountinfo = `22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
90 22 0:45 / /ctx rw,nosuid,nodev,relatime shared:40 - fuse.ctxfs /var/lib/ctxfs rw,user_id=0,group_id=0,default_permissions,allow_other
91 22 0:46 / /mnt/with\040space\134 rw - fuse.ctxfs /my\040store rw
92 22 0:47 / /mnt/sshfs rw - fuse.sshfs host:/ rw
93 22 0:48 / /fuse.ctxfs rw - tmpfs tmpfs rw
94 22 0:45 /home/7 /volume rw shared:40 - fuse.ctxfs /var/lib/ctxfs rw
`
	got, err := parse(strings.NewReader(mountinfo))
	want := []Info{{"/", "ext4", "/dev/vda", "254:0", "", "/"}, {"/ctx", Type, "/var/lib/ctxfs", "0:45", "0", "/"}, {`/mnt/with space\`, Type, "/my store", "0:46", "", "/"},
		{"/mnt/sshfs", "fuse.sshfs", "host:/", "0:47", "", "/"}, {"/fuse.ctxfs", "tmpfs", "tmpfs", "0:48", "", "/"}, {"/volume", Type, "/var/lib/ctxfs", "0:45", "", "/home/7"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}
