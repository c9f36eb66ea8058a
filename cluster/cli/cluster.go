package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/cluster/keep"
	"github.com/ctxfs/ctxfs/cluster/member"
	"github.com/ctxfs/ctxfs/cluster/nats"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/inputs"
	"github.com/ctxfs/ctxfs/internal/locate"
)

// clusterDirFlag is --dir of the verbs of a cluster.
func clusterDirFlag(c *cobra.Command, dir *string) {
	c.Flags().StringVar(dir, "dir", "", "`DIR` of this machine's keys, settings and entries (default /var/lib/ctxfs-cluster for root, else $XDG_DATA_HOME/ctxfs-cluster or ~/.local/share/ctxfs-cluster)")
}

// clusterDir returns the directory that --dir means.
func clusterDir(dir string) string {
	if dir == "" {
		return locate.DefaultStore() + "-cluster"
	}
	return dir
}

func clusterInitCmd() *cobra.Command {
	var dir, tokens, here, name string
	var servers, hosts []string
	var disk int64
	c := &cobra.Command{
		Use:   "init [flags] --server NAME=HOST --server NAME=HOST --server NAME=HOST",
		Short: "Make the keys and certificates of a new cluster, and a token for each machine",
		Long: `Make a cluster of three servers: its keys, the certificates of its servers
(TLS 1.3, mutual between servers), and a token for each other machine. This machine
becomes the first server, or the one that --here names. The first server makes the
streams when all three run.

HOST is a name or an address at which hosts and servers reach the server. Its
ports are 4222 for hosts and 6222 for servers; HOST:PORT and HOST:PORT:PORT are
others. Each server is a host of all users, too. --host adds a host that is no
server: NAME is one for all users, NAME=u1000,u1001 one that reaches those alone.

A token is a secret: who has it can be that machine. --tokens writes them to files
instead of the terminal. The key that signs certificates (ca.key) stays here.`,
		Example: `  ctxfs cluster init --server n1=10.0.0.1 --server n2=10.0.0.2 --server n3=10.0.0.3
  ctxfs cluster init --server n1=n1.lan --server n2=n2.lan --server n3=n3.lan --host laptop=u1000 --tokens .`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p := member.Plan{Cluster: name, Disk: disk, Here: here}
			for _, s := range servers {
				a, err := member.ParseAddress(s)
				if err != nil {
					return clusterUsage(err)
				}
				p.Servers = append(p.Servers, a)
			}
			for _, h := range hosts {
				host, owners, _ := strings.Cut(h, "=")
				p.Hosts = append(p.Hosts, member.User{Name: host, Owners: commaList(owners)})
			}
			if !c.Flags().Changed("here") && len(p.Servers) > 0 {
				p.Here = p.Servers[0].Name
			}
			if err := p.Check(); err != nil {
				return clusterUsage(err)
			}
			if tokens != "" {
				if err := os.MkdirAll(tokens, 0o700); err != nil {
					return err
				}
			}
			list, err := member.Make(clusterDir(dir), p)
			if err != nil {
				return err
			}
			out := c.OutOrStdout()
			if p.Here != "" {
				fmt.Fprintf(out, "This machine is server %s of cluster %s: %s\n", p.Here, name, clusterDir(dir))
			} else {
				fmt.Fprintf(out, "The keys of cluster %s are in %s\n", name, clusterDir(dir))
			}
			if err := handOut(out, tokens, list); err != nil {
				return err
			}
			_, err = fmt.Fprintln(out, "Then, on each server: ctxfs cluster serve")
			return err
		},
	}
	fl := c.Flags()
	clusterDirFlag(c, &dir)
	fl.StringArrayVar(&servers, "server", nil, "`NAME=HOST` of a server; three times")
	fl.StringArrayVar(&hosts, "host", nil, "`NAME[=OWNER,...]` of a host that is no server; may be repeated")
	fl.StringVar(&name, "name", "ctxfs", "`NAME` of the cluster")
	fl.StringVar(&here, "here", "", "`NAME` of the server that this machine is; empty: none (default: the first)")
	fl.StringVar(&tokens, "tokens", "", "write the tokens to files NAME.token in `DIR`")
	fl.Int64Var(&disk, "disk", 0, "`BYTES` that each server may take of its disk; 0: 75 % of what is free when it starts")
	c.MarkFlagRequired("server")
	return c
}

// clusterUsage is the error of words that a cluster's verbs do not take.
func clusterUsage(err error) error { return cli.Usagef("%w", err) }

// commaList returns what commas separate.
func commaList(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// handOut prints tokens, or writes them to files and prints their names.
func handOut(out io.Writer, dir string, list []member.Token) error {
	for _, t := range list {
		kind := "host"
		if t.Server {
			kind = "server"
		}
		if dir == "" {
			fmt.Fprintf(out, "\nOn %s %s:\nctxfs cluster join %s\n\n", kind, t.Name, t.Word)
			continue
		}
		file := filepath.Join(dir, t.Name+".token")
		if err := member.WriteFile(file, []byte(t.Word+"\n")); err != nil {
			return err
		}
		fmt.Fprintf(out, "On %s %s: ctxfs cluster join - < %s\n", kind, t.Name, file)
	}
	return nil
}

func clusterJoinCmd() *cobra.Command {
	var dir, file string
	var anyUids bool
	c := &cobra.Command{
		Use:   "join [flags] TOKEN",
		Short: "Make this machine the one of a token",
		Long: `Write the keys and settings in TOKEN to this machine. It becomes the server or the
host that the token was made for. TOKEN - is read from standard input, where other
users of the machine cannot see it. A second join with the same token changes
nothing.

Users must have the same uids on all hosts. join compares them with those of the
machine where the token was made, by name, and refuses when they differ.`,
		Example: "  ctxfs cluster join - < n2.token\n  ctxfs cluster join --token-file /run/secrets/n2.token",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if (len(args) == 1) == (file != "") {
				return cli.Usagef("one TOKEN, or --token-file")
			}
			word := ""
			switch {
			case file != "":
				data, err := inputs.ReadFile(file)
				if err != nil {
					return err
				}
				word = string(data)
			case args[0] == "-":
				data, err := io.ReadAll(io.LimitReader(c.InOrStdin(), 4<<20))
				if err != nil {
					return err
				}
				word = string(bytes.TrimSpace(data))
			default:
				word = args[0]
			}
			m, err := member.Join(clusterDir(dir), word, anyUids)
			if err != nil {
				return err
			}
			kind := "host"
			if m.IsServer() {
				kind = "server"
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "This machine is %s %s of cluster %s: %s\n", kind, m.Name, m.Cluster, m.Dir())
			return err
		},
	}
	clusterDirFlag(c, &dir)
	c.Flags().StringVar(&file, "token-file", "", "read the token from `FILE`")
	c.Flags().BoolVar(&anyUids, "any-uids", false, "join although users have other uids here")
	return c
}

func clusterTokenCmd() *cobra.Command {
	var dir, tokens, owners string
	var revoke bool
	c := &cobra.Command{
		Use:   "token [flags] NAME",
		Short: "Make a token for a new host, or anew for a machine that was lost",
		Long: `Make a token for NAME, which is a new host, or a server or a host whose disk or
token was lost: its old key is worth nothing from then on. It needs the machine
where the cluster was made, and two servers that run; they take the new key within
seconds.
--revoke takes a host's key away and makes no token.`,
		Example: "  ctxfs cluster token --owners u1000 laptop\n  ctxfs cluster token --tokens . n2\n  ctxfs cluster token --revoke laptop",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			m, err := member.Read(clusterDir(dir))
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(c.Context(), 30*time.Second)
			defer cancel()
			o, err := m.Maintenance()
			if err != nil {
				return err
			}
			o.Unsafe = true // who may connect does not depend on it
			e, err := nats.Open(ctx, o)
			if err != nil {
				return err
			}
			defer e.Close()
			users, seq, err := keep.Users(ctx, e)
			if err != nil {
				return err
			}
			if revoke {
				if users, err = member.Revoke(users, args[0]); err != nil {
					return err
				}
				return keep.PutUsers(ctx, e, seq, users)
			}
			users, token, err := m.Admit(users, args[0], commaList(owners))
			if err != nil {
				return err
			}
			if err := keep.PutUsers(ctx, e, seq, users); err != nil {
				return err
			}
			return handOut(c.OutOrStdout(), tokens, []member.Token{token})
		},
	}
	clusterDirFlag(c, &dir)
	c.Flags().StringVar(&owners, "owners", "", "`OWNERS` that the host serves, with commas: u1000,u1001 (default: all)")
	c.Flags().StringVar(&tokens, "tokens", "", "write the token to NAME.token in `DIR`")
	c.Flags().BoolVar(&revoke, "revoke", false, "take the key of a host away")
	return c
}
