package cluster

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/cluster/mounts"
	"github.com/ctxfs/ctxfs/tests/cluster/servers"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// A monitor reads from the socket of a mount what its status file has.
func TestAMonitorSeesAMount(t *testing.T) {
	suite.Matrix(t, slow)
	c := servers.Start(t)
	socket := filepath.Join(c.Dir, "metrics")
	a := mounts.New(t, c, "a", harness.Options{}, "--metrics", socket)
	mounts.Run(t, a)
	a.Session(t, harness.Self(), "coder", "s1").Append("messages.jsonl", `{"role":"user","content":"one"}`+"\n")
	monitor := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	r, err := monitor.Get("http://mount/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/openmetrics-text") {
		t.Fatalf("%v %v %v", r.Status, r.Header, err)
	}
	for _, want := range []string{"\nctxfs_cluster_behind_seconds 0\n", "\nctxfs_cluster_unattested_shards 17\n", `cluster_host="a"`, "\n# EOF\n"} { // nobody looks at these servers
		if !strings.Contains(string(body), want) {
			t.Errorf("no %q in\n%s", want, body)
		}
	}
}
