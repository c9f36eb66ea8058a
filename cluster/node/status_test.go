package node

import (
	"bytes"
	"slices"
	"testing"
)

func TestMetricsHaveWhatStatusHas(t *testing.T) {
	var out bytes.Buffer
	err := writeMetrics(&out, [][2]string{{"cluster", "abc"}, {"cluster_state", `stale "x"`}, {"cluster_followed", "3"}, {"cluster_behind_seconds", "0"}})
	const want = "# TYPE ctxfs_cluster_followed gauge\nctxfs_cluster_followed 3\n" +
		"# TYPE ctxfs_cluster_behind_seconds gauge\nctxfs_cluster_behind_seconds 0\n" +
		"# TYPE ctxfs_mount info\nctxfs_mount_info{cluster=\"abc\",cluster_state=\"stale \\\"x\\\"\"} 1\n# EOF\n"
	if err != nil || out.String() != want {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestStatusCountsWhatIsFetchedOfParts(t *testing.T) {
	m := newRig(t).mount("a", t.TempDir())
	m.parts.fetched = func() int64 { return 12345 }
	if list := m.Status(); !slices.Contains(list, [2]string{"cluster_parts_fetched_bytes", "12345"}) {
		t.Errorf("%v", list)
	}
}
