package embed

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/ctxfs/ctxfs/cluster/member"
)

// publicKey returns the public key of a new user.
func publicKey(t *testing.T) string {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	key, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// good returns settings that are right.
func good(t *testing.T) member.Server {
	t.Helper()
	dir := t.TempDir()
	return member.Server{
		Cluster: "memory", Name: "n1", Listen: "127.0.0.1:4222", Routes: "127.0.0.1:6222", Peers: []string{"127.0.0.1:6223", "127.0.0.1:6224"},
		Store: filepath.Join(dir, "store"), KeyFile: filepath.Join(dir, "disk.key"), Monitor: "127.0.0.1:8222",
		Users: []member.User{
			{Name: "a", Key: publicKey(t), Role: member.RoleHost},
			{Name: "laptop", Key: publicKey(t), Role: member.RoleHost, Owners: []string{"u1000"}},
			{Name: "keeper", Key: publicKey(t), Role: member.RoleMaintenance},
			{Name: "asker", Key: publicKey(t), Role: member.RoleSystem},
		},
	}
}

// nats-server reads the settings as they are meant.
func TestTheSettingsOfTheServer(t *testing.T) {
	c := good(t)
	c.Zone, c.Disk = "rack-1", 5<<30
	c.Store += ` "with" $odd \names`
	o := &server.Options{}
	if err := o.ProcessConfigString(Text(c, `$key "with" marks`)); err != nil {
		t.Fatal(err)
	}
	for what, ok := range map[string]bool{
		"sync":      o.SyncAlways,
		"store":     o.StoreDir == c.Store,
		"key":       o.JetStreamKey == `$key "with" marks`,
		"cipher":    o.JetStreamCipher == server.ChaCha,
		"disk":      o.JetStreamMaxStore == 5<<30,
		"memory":    o.JetStreamMaxMemory == defaultMemory,
		"tag":       o.JetStreamUniqueTag == "az:" && len(o.Tags) == 1 && o.Tags[0] == "az:rack-1",
		"payload":   o.MaxPayload == maxPayload,
		"routes":    len(o.Routes) == 2 && o.Cluster.NoAdvertise && o.Cluster.Name == "memory",
		"monitor":   o.HTTPHost == "127.0.0.1" && o.HTTPPort == 8222,
		"system":    o.SystemAccount == member.SystemAccount,
		"users":     len(o.Nkeys) == 4 && len(o.Users) == 0,
		"no others": o.NoAuthUser == "" && o.Authorization == "" && o.Username == "",
	} {
		if !ok {
			t.Errorf("%s is not as it was said", what)
		}
	}
	for _, u := range o.Nkeys {
		i := 0
		for c.Users[i].Key != u.Nkey {
			i++
		}
		account := member.Account
		if c.Users[i].Role == member.RoleSystem {
			account = member.SystemAccount
		}
		if u.Account == nil || u.Account.Name != account || u.Permissions == nil || len(u.Permissions.Publish.Allow) == 0 || len(u.Permissions.Subscribe.Allow) == 0 {
			t.Errorf("user %s: %+v", c.Users[i].Name, u)
		}
	}
}

func TestTheKeyOfTheDisk(t *testing.T) {
	name := filepath.Join(t.TempDir(), "keys", "disk")
	key, err := diskKey(name)
	if err != nil || len(key) < 32 {
		t.Fatalf("%q, %v", key, err)
	}
	if again, err := diskKey(name); err != nil || again != key {
		t.Errorf("%q, %v, want %q", again, err, key)
	}
	if err := os.Chmod(name, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := diskKey(name); !errors.Is(err, member.ErrConfig) {
		t.Errorf("a key that others read: %v", err)
	}
	if err := os.Chmod(name, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := diskKey(name); !errors.Is(err, member.ErrConfig) {
		t.Errorf("a short key: %v", err)
	}
}

func TestAServerStartsAndEnds(t *testing.T) {
	c := good(t)
	c.Monitor, c.Witness = "", true
	for _, address := range []*string{&c.Listen, &c.Routes, &c.Peers[0], &c.Peers[1]} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		*address = l.Addr().String()
		defer l.Close()
		if address == &c.Listen || address == &c.Routes {
			l.Close()
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	ready := make(chan struct{})
	done := make(chan error, 1)
	changes, refusals := make(chan member.Server), make(chan error, 4)
	go func() {
		done <- Run(ctx, c, changes, func() { close(ready) }, func(err error) { refusals <- err })
	}()
	select {
	case <-ready:
	case err := <-done:
		t.Fatal(err)
	}
	n, err := net.Dial("tcp", c.Listen)
	if err != nil {
		t.Error(err)
	} else {
		n.Close()
	}
	for what, change := range map[string]func(*member.Server){
		"other servers": func(c *member.Server) { c.Peers = nil }, "store": func(c *member.Server) { c.Store += "2" },
	} {
		other := c
		change(&other)
		changes <- other
		if err := <-refusals; err == nil {
			t.Errorf("the server takes other %s", what)
		}
	}
	other := c
	other.Users = c.Users[1:]
	changes <- other
	changes <- c // so that the one before was looked at
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	select {
	case err := <-refusals:
		t.Errorf("other users are refused: %v", err)
	default:
	}
	c.Peers = nil
	if err := Run(t.Context(), c, nil, nil, nil); !errors.Is(err, member.ErrConfig) {
		t.Errorf("settings that are wrong: %v", err)
	}
}
