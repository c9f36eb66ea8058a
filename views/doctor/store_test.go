package doctor

import (
	"strings"
	"testing"
)

func TestDoctorWarnsWhenDescriptorsAreFewForTheSessions(t *testing.T) {
	for _, c := range []struct {
		limit, sessions int
		state           string
	}{
		{64, 1, OK}, {64, 8, OK}, {64, 9, Note}, {1024, 100, OK}, {1024, 251, Note}, {20_000, 251, OK}, {20_000, 100_000, OK},
	} {
		f := judgeHandles(c.limit, c.sessions, "its daemon")
		if f.State != c.state || (f.Remedy != "") != (f.State == Note) {
			t.Errorf("limit %d, %d sessions: %+v, want %s", c.limit, c.sessions, f, c.state)
		}
	}
}

func TestOpenFilesLimitOfAProcess(t *testing.T) {
	const limits = `Limit                     Soft Limit           Hard Limit           Units
Max processes             32768                32768                processes
Max open files            1023                 1024                 files
`
	if n, ok := openFilesLimit(limits); n != 1023 || !ok {
		t.Errorf("got %d, %v", n, ok)
	}
	if _, ok := openFilesLimit(strings.Replace(limits, "open", "shut", 1)); ok {
		t.Error("a limit was found where there is none")
	}
}
