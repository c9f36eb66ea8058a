package member

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nkeys"
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
func good(t *testing.T) Server {
	t.Helper()
	dir := t.TempDir()
	return Server{
		Cluster: "memory", Name: "n1", Listen: "127.0.0.1:4222", Routes: "127.0.0.1:6222", Peers: []string{"127.0.0.1:6223", "127.0.0.1:6224"},
		Store: filepath.Join(dir, "store"), KeyFile: filepath.Join(dir, "disk.key"), Monitor: "127.0.0.1:8222",
		Users: []User{
			{Name: "a", Key: publicKey(t), Role: RoleHost},
			{Name: "laptop", Key: publicKey(t), Role: RoleHost, Owners: []string{"u1000"}},
			{Name: "keeper", Key: publicKey(t), Role: RoleMaintenance},
			{Name: "asker", Key: publicKey(t), Role: RoleSystem},
		},
	}
}

func TestSettingsThatAreWrong(t *testing.T) {
	if err := good(t).Check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Server){
		"cluster:":                     func(c *Server) { c.Cluster = "a b" },
		"name:":                        func(c *Server) { c.Name = `n1"` },
		"zone:":                        func(c *Server) { c.Zone = "a:b" },
		"store and key_file":           func(c *Server) { c.KeyFile = "" },
		"1 other servers":              func(c *Server) { c.Peers = c.Peers[:1] },
		"is no host:port":              func(c *Server) { c.Listen = "4222" },
		"tls is needed":                func(c *Server) { c.Peers[1] = "10.0.0.3:6222" },
		"ca, cert and key":             func(c *Server) { c.TLS = &TLS{CA: "x"} },
		"is not of this machine":       func(c *Server) { c.Monitor = "0.0.0.0:8222" },
		"a witness":                    func(c *Server) { c.Witness, c.Listen, c.TLS = true, "10.0.0.1:4222", &TLS{"a", "b", "c"} },
		"no public key":                func(c *Server) { c.Users[0].Key = "SUAAA" },
		"is there twice":               func(c *Server) { c.Users[1].Key = c.Users[0].Key },
		"plain one, or is there twice": func(c *Server) { c.Users[1].Name = c.Users[0].Name },
		"no role":                      func(c *Server) { c.Users[0].Role = "admin" },
		"only hosts have owners":       func(c *Server) { c.Users[2].Owners = []string{"u1"} },
		`owner "*"`:                    func(c *Server) { c.Users[1].Owners = []string{"*"} },
		"are no sizes":                 func(c *Server) { c.Disk = -1 },
	} {
		c := good(t)
		change(&c)
		if err := c.Check(); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

func TestSettingsAreReadFromAFile(t *testing.T) {
	c := good(t)
	c.Store, c.KeyFile = "store", "keys/disk"
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "server.json")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := ReadServer(name)
	if err != nil || got.Store != filepath.Join(filepath.Dir(name), "store") || got.KeyFile != filepath.Join(filepath.Dir(name), "keys/disk") {
		t.Errorf("%+v, %v", got, err)
	}
	if err := os.WriteFile(name, []byte(strings.Replace(string(data), `"store"`, `"sync":false,"store"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadServer(name); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "sync") {
		t.Errorf("a setting that is none: %v", err)
	}
}
