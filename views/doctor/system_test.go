package doctor

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestKernelAtLeast(t *testing.T) {
	for release, want := range map[string]bool{
		"6.18.44-fc-v445": true, "5.3.0": true, "5.10.0-28-amd64": true, "5.2.99": false, "4.19.0": false, "": false,
	} {
		if got := kernelAtLeast(release, oldestKernel); got != want {
			t.Errorf("%q: got %v", release, got)
		}
	}
}

func TestHasCapability(t *testing.T) {
	const root, container = "Name:\tx\nCapEff:\t000001ffffffffff\n", "CapEff:\t00000000a80425fb\n"
	if !hasCapability(root, unix.CAP_SYS_ADMIN) || hasCapability(container, unix.CAP_SYS_ADMIN) || hasCapability("", 0) {
		t.Error("CAP_SYS_ADMIN is read wrongly")
	}
}
