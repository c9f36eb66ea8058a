package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/cluster/host"
	"github.com/ctxfs/ctxfs/cluster/keep"
	"github.com/ctxfs/ctxfs/cluster/member"
	"github.com/ctxfs/ctxfs/cluster/nats"
	"github.com/ctxfs/ctxfs/cluster/node"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/fs"
	fscli "github.com/ctxfs/ctxfs/fs/cli"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/session"
)

// clusterFlags are the flags of a mount of a cluster.
type clusterFlags struct {
	at        string // a directory, or URLs; "": none
	creds     string
	ca        string
	host      string
	freshness time.Duration
	timeout   time.Duration
	unsafe    bool
	metrics   string // a socket; "": none
}

// ofMachine is --cluster without a value.
const ofMachine = "machine"

// AddFlags defines the flags.
func (f *clusterFlags) AddFlags(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.at, "cluster", "", "share sessions with the other hosts of the cluster that this machine joined (`DIR` as --dir of ctxfs cluster), or of the servers at URLs tls://host:port,...")
	fl.Lookup("cluster").NoOptDefVal = ofMachine
	fl.StringVar(&f.creds, "creds", "", "`FILE` with the secret key of this host's user, for --cluster=URLS")
	fl.StringVar(&f.ca, "cluster-ca", "", "`FILE` with the certificate of who signs those of the servers, for --cluster=URLS")
	fl.StringVar(&f.host, "host", "", "`NAME` of this host in the cluster (default that with which it joined, or the machine's)")
	fl.DurationVar(&f.freshness, "freshness", node.Freshness, "how old what is shown of other hosts may be; 0: ask the cluster at each look")
	fl.DurationVar(&f.timeout, "cluster-timeout", host.Timeout, "how long an append waits for a cluster that does not answer")
	fl.StringVar(&f.metrics, "metrics", "", "answer GET /metrics on a unix `SOCKET` with what status has of the cluster, as OpenMetrics")
	fl.BoolVar(&f.unsafe, "unsafe", false, "mount a cluster that may lose what it acknowledged")
}

// Complete makes paths absolute and checks what can be checked without a server.
func (f *clusterFlags) Complete(c *cobra.Command) (err error) {
	if f.at == "" {
		for _, name := range []string{"creds", "cluster-ca", "host", "freshness", "cluster-timeout", "unsafe", "metrics"} {
			if c.Flags().Changed(name) {
				return cli.Usagef("--%s is for a mount with --cluster", name)
			}
		}
		return nil
	}
	if f.freshness < 0 || f.timeout <= 0 {
		return cli.Usagef("--freshness and --cluster-timeout: a duration like 1s")
	}
	if f.at == ofMachine {
		f.at = clusterDir("")
	}
	for _, name := range []*string{&f.creds, &f.ca, &f.at, &f.metrics} {
		if *name != "" && !f.isURLs(*name) {
			if *name, err = filepath.Abs(*name); err != nil {
				return err
			}
		}
	}
	if !f.isURLs(f.at) && (f.creds != "" || f.ca != "") {
		return cli.Usagef("--creds and --cluster-ca are for --cluster=tls://host:port,...; the directory of a machine has its own")
	}
	return nil
}

func (f *clusterFlags) isURLs(s string) bool {
	return strings.HasPrefix(s, "nats://") || strings.HasPrefix(s, "tls://")
}

// Args are the flags that make the same mount.
func (f *clusterFlags) Args() []string {
	if f.at == "" {
		return nil
	}
	return []string{
		"--cluster=" + f.at, "--creds=" + f.creds, "--cluster-ca=" + f.ca, "--host=" + f.host,
		fmt.Sprintf("--freshness=%s", f.freshness), fmt.Sprintf("--cluster-timeout=%s", f.timeout), fmt.Sprintf("--unsafe=%t", f.unsafe), "--metrics=" + f.metrics,
	}
}

// reach returns what the engine of the host needs.
func (f *clusterFlags) reach() (o nats.Options, err error) {
	if f.isURLs(f.at) {
		name := f.host
		if name == "" {
			if name, err = os.Hostname(); err != nil {
				return o, err
			}
			name, _, _ = strings.Cut(name, ".")
		}
		o, err = member.Reach(strings.Split(f.at, ","), name, f.creds, f.ca)
	} else {
		var m member.Machine
		if m, err = member.Read(f.at); err == nil {
			o, err = m.Host()
		}
		if f.host != "" && f.host != o.Host && err == nil {
			return o, cli.Usagef("--host %s: this machine joined the cluster as %s, and its key is for that name", f.host, o.Host)
		}
	}
	o.Unsafe = f.unsafe
	return o, err
}

// How long a mount waits for the servers. With a store that has copies already it begins without them then; by that
// time a mount of the same name that was killed is no longer taken for one that lives.
const (
	reachWithin      = time.Minute
	reachKnownWithin = 20 * time.Second
)

// Open connects the store in dir to the cluster and changes the options with which the store is
// opened. It returns nil without --cluster.
func (f *clusterFlags) Open(ctx context.Context, dir string, s *session.Options) (fscli.ClusterHost, error) {
	if f.at == "" {
		return nil, nil
	}
	reach, err := f.reach()
	if err != nil {
		return nil, err
	}
	known, err := node.StoreOf(dir)
	if err != nil {
		return nil, err
	}
	within, then := reachWithin, "the mount gives up"
	if known != "" {
		within, then = reachKnownWithin, "the mount begins with what this host has"
	}
	slow := time.AfterFunc(fscli.NoticeAfter, func() {
		s.Logger.Warn("the cluster does not answer yet; "+then+" when it does not within the limit", "limit", within)
	})
	defer slow.Stop()
	short, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	n, err := node.Open(short, node.Options{Nats: reach, Known: known, Freshness: f.freshness, Timeout: f.timeout, Version: ctxabi.Version, Logger: s.Logger})
	if err != nil {
		return nil, err
	}
	if err := f.serveMetrics(ctx, n); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	s.Committer, s.Parts = n, n.Parts()
	return memberHost{n}, nil
}

// memberHost is the node of a mount as [fscli.ClusterHost].
type memberHost struct{ *node.Node }

// Shared returns the part that shares ordinary files.
func (h memberHost) Shared() fs.Files { return h.Files() }

// serveMetrics answers monitors on the socket of --metrics until ctx is done. The socket is for its owner alone.
func (f *clusterFlags) serveMetrics(ctx context.Context, n *node.Node) error {
	if f.metrics == "" {
		return nil
	}
	if info, err := os.Lstat(f.metrics); err == nil && info.Mode().Type() == os.ModeSocket {
		os.Remove(f.metrics) // of a mount that has ended
	}
	l, err := net.Listen("unix", f.metrics)
	if err != nil {
		return err
	}
	if err := os.Chmod(f.metrics, 0o600); err != nil {
		return errors.Join(err, l.Close())
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", keep.ContentType)
		n.WriteMetrics(w)
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(l)
	context.AfterFunc(ctx, func() { server.Close() })
	return nil
}
