package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	fscli "github.com/ctxfs/ctxfs/fs/cli"
	"github.com/ctxfs/ctxfs/internal/cli"
)

// mount.fuse.ctxfs takes the flags of a cluster as options of mount(8). Its exit code for wrong
// usage is 1.
func TestMountHelperTakesCluster(t *testing.T) {
	newRoot := cli.NewRoot
	defer func() { cli.NewRoot = newRoot }()
	cli.NewRoot = func() *cobra.Command {
		root := &cobra.Command{Use: "ctxfs", SilenceErrors: true, SilenceUsage: true}
		fscli.Register(root)
		cli.MarkFailures(root)
		return root
	}

	for _, c := range []struct {
		options string
		want    string // the flags, between the store and the mountpoint
		refused string
	}{
		{options: "cluster,_netdev,host=a,freshness=5s,cluster-timeout=10s,metrics=/run/ctxfs/m.sock,unsafe",
			want: "--cluster=" + ofMachine + " --host=a --freshness=5s --cluster-timeout=10s --metrics=/run/ctxfs/m.sock --unsafe=true"},
		{options: "cluster=/var/lib/ctxfs-cluster", want: "--cluster=/var/lib/ctxfs-cluster"},
		{options: `cluster="tls://n1:4222,tls://n2:4222",creds=/etc/ctxfs/a.nk,cluster_ca=/etc/ctxfs/ca.crt`,
			want: "--cluster=tls://n1:4222,tls://n2:4222 --creds=/etc/ctxfs/a.nk --cluster-ca=/etc/ctxfs/ca.crt"},
		{options: "cluster,creds", refused: "needs a value"},
		{options: "cluster,freshness=old", refused: "freshness=old"},
		{options: "host=a", refused: "--host is for a mount with --cluster"},
	} {
		var out bytes.Buffer
		args := []string{"/s", "/ctx", "-v", "-o", c.options}
		if !strings.Contains(c.refused, "--cluster") {
			args = append(args, "-f") // translates the options, and mounts nothing
		}
		code := fscli.MountHelper(args, &out, &out)

		if c.refused != "" {
			if code != 1 || !strings.Contains(out.String(), c.refused) {
				t.Errorf("-o %s: exit code %d, says %q; want 1 and %q", c.options, code, &out, c.refused)
			}
			continue
		}
		want := "ctxfs mount --store=/s " + c.want + " -- /ctx\n"
		if code != 0 || out.String() != want {
			t.Errorf("-o %s: exit code %d\n got %q\nwant %q", c.options, code, &out, want)
		}
	}
}
