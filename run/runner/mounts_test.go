package runner

import (
	"slices"
	"testing"
)

func TestPrivateMountsAreThoseThatFollowNoUnmount(t *testing.T) {
	const info = `22 1 8:1 / / rw,relatime - ext4 /dev/root rw
40 22 0:40 / /ctx rw,nosuid,nodev - fuse.ctxfs ctxfs rw,user_id=0
41 22 0:41 / /a\040b rw,nosuid,nodev shared:7 - fuse.ctxfs ctxfs rw
42 22 0:42 / /followed rw,nosuid,nodev master:7 - fuse.ctxfs ctxfs rw
43 22 0:43 / /other rw - fuse.sshfs host:/ rw
44 22 broken
`
	if got, want := privateMounts(info), []string{"/ctx", "/a b"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
