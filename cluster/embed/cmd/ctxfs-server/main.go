package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/nats-io/nkeys"

	"github.com/ctxfs/ctxfs/cluster/embed"
	"github.com/ctxfs/ctxfs/cluster/member"
)

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "ctxfs-server:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("ctxfs-server", flag.ContinueOnError)
	config := flags.String("config", "", "run with the settings in this JSON `file`")
	witness := flags.Bool("witness", false, "accept no hosts but those of this machine")
	show := flags.Bool("print", false, "print the settings as nats-server reads them, without the key, and end")
	key := flags.String("new-key", "", "write the secret key of a new user to this `file`, print the public one, and end")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *key != "" {
		return newKey(*key)
	}
	if *config == "" || flags.NArg() > 0 {
		flags.Usage()
		return errors.New("which settings? --config FILE")
	}
	c, err := member.ReadServer(*config)
	if err != nil {
		return err
	}
	c.Witness = c.Witness || *witness
	if *show {
		if err := c.Check(); err != nil {
			return err
		}
		fmt.Print(embed.Text(c, "the content of "+c.KeyFile))
		return nil
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	changes := make(chan member.Server)
	go reload(ctx, *config, *witness, changes)
	return embed.Run(ctx, c, changes, func() { fmt.Fprintln(os.Stderr, "ctxfs-server: ready") }, func(err error) {
		fmt.Fprintln(os.Stderr, "ctxfs-server: it goes on with the settings from before:", err)
	})
}

// reload sends the settings anew at each SIGHUP, until ctx is done. It prints why they cannot be read.
func reload(ctx context.Context, config string, witness bool, changes chan<- member.Server) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
		}
		c, err := member.ReadServer(config)
		if err != nil {
			fmt.Fprintln(os.Stderr, "ctxfs-server: it goes on with the settings from before:", err)
			continue
		}
		c.Witness = c.Witness || witness
		select {
		case <-ctx.Done():
		case changes <- c:
		}
	}
}

// newKey writes the secret key of a new user to a file that must not exist, and prints the public one.
func newKey(name string) error {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return err
	}
	seed, err := pair.Seed()
	if err != nil {
		return err
	}
	public, err := pair.PublicKey()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(seed, '\n'))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	fmt.Println(public)
	return nil
}
