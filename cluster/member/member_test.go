package member

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"
)

func TestAddressesOfServers(t *testing.T) {
	for s, want := range map[string]Address{
		"n1=10.0.0.1":                {"n1", "10.0.0.1:4222", "10.0.0.1:6222"},
		"n1=n1.lan:5000":             {"n1", "n1.lan:5000", "n1.lan:7000"},
		"n1=127.0.0.1:1:2":           {"n1", "127.0.0.1:1", "127.0.0.1:2"},
		"n1=[fd00::1]":               {"n1", "[fd00::1]:4222", "[fd00::1]:6222"},
		"n1=[fd00::1]:5000":          {"n1", "[fd00::1]:5000", "[fd00::1]:7000"},
		"n1=[fd00::1]:5000:6000":     {"n1", "[fd00::1]:5000", "[fd00::1]:6000"},
		"a-0=a-0.servers.x.svc:4222": {"a-0", "a-0.servers.x.svc:4222", "a-0.servers.x.svc:6222"},
	} {
		if got, err := ParseAddress(s); err != nil || got != want {
			t.Errorf("%s: %+v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "n1", "=h", "n1=", "n 1=h", "n1=h:x", "n1=h:70000", "n1=h:1:1", "n1=h:1:2:3", "n1=h:64000", "n1=[fd00::1", "n1=[]", "n1=:4222"} {
		if got, err := ParseAddress(s); !errors.Is(err, ErrConfig) {
			t.Errorf("%q: %+v, %v", s, got, err)
		}
	}
}

// plan returns a cluster with a host.
func plan(t *testing.T) Plan {
	t.Helper()
	p := Plan{Cluster: "memory", Here: "n1", Hosts: []User{{Name: "laptop", Owners: []string{"u1000"}}}}
	for _, s := range []string{"n1=10.0.0.1", "n2=n2.lan", "n3=[fd00::3]"} {
		a, err := ParseAddress(s)
		if err != nil {
			t.Fatal(err)
		}
		p.Servers = append(p.Servers, a)
	}
	return p
}

func TestPlansThatCannotBe(t *testing.T) {
	for want, change := range map[string]func(*Plan){
		"no plain name of a cluster": func(p *Plan) { p.Cluster = "a b" },
		"2 servers":                  func(p *Plan) { p.Servers = p.Servers[:2] },
		`"n1" is there twice`:        func(p *Plan) { p.Servers[1].Name = "n1" },
		"4222\" is there twice":      func(p *Plan) { p.Servers[1].Hosts = p.Servers[0].Hosts },
		`"n2" is there twice`:        func(p *Plan) { p.Hosts[0].Name = "n2" },
		`"system" is there twice`:    func(p *Plan) { p.Hosts[0].Name = "system" },
		"no plain name of a host":    func(p *Plan) { p.Hosts[0].Name = "a.b" },
		`owner "*"`:                  func(p *Plan) { p.Hosts[0].Owners = []string{"*"} },
		"none of the servers":        func(p *Plan) { p.Here = "laptop" },
	} {
		p := plan(t)
		change(&p)
		dir := filepath.Join(t.TempDir(), "c")
		if _, err := Make(dir, p); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%q: something was written", want)
		}
	}
}

// made makes a cluster and returns the directory of each of its machines.
func made(t *testing.T) (dirs map[string]string, tokens []Token) {
	t.Helper()
	top := t.TempDir()
	dirs = map[string]string{"n1": filepath.Join(top, "n1")}
	tokens, err := Make(dirs["n1"], plan(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range tokens {
		dirs[x.Name] = filepath.Join(top, x.Name)
		m, err := Join(dirs[x.Name], x.Word, true)
		if err != nil || m.Name != x.Name || m.IsServer() != x.Server {
			t.Fatalf("%+v, %v", m, err)
		}
	}
	return dirs, tokens
}

func TestAClusterIsMade(t *testing.T) {
	dirs, tokens := made(t)
	if len(tokens) != 3 || len(dirs) != 4 {
		t.Fatalf("%d tokens, %v", len(tokens), dirs)
	}
	var users []User
	for name, dir := range dirs {
		err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: %v", p, info.Mode())
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		m, err := Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		if m.Maintains() != m.IsServer() || !m.IsHost() || m.IsServer() == (name == "laptop") || m.MakesTokens() != (name == "n1") || m.Makes != (name == "n1") {
			t.Errorf("%s is another machine: %+v", name, m)
		}
		if e, err := m.Expires(); err != nil || e.Before(time.Now().AddDate(9, 0, 0)) {
			t.Errorf("%s: certificates end %v, %v", name, e, err)
		}
		if _, err := m.Host(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := m.Maintenance(); (err == nil) != m.IsServer() {
			t.Errorf("%s: maintenance: %v", name, err)
		}
		if !m.IsServer() {
			continue
		}
		c, err := ReadServer(m.ServerFile())
		if err != nil {
			t.Fatal(err)
		}
		if c.Name != name || len(c.Users) != 6 || users != nil && !reflect.DeepEqual(users, c.Users) {
			t.Errorf("%s: %+v", name, c)
		}
		users = c.Users
		checkCert(t, m)
	}
	for file, want := range map[string]string{"host.seed": "laptop", "maintenance.seed": "maintenance", "system.seed": "system"} {
		dir := dirs["n2"]
		if want == "laptop" {
			dir = dirs[want]
		}
		seed, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		pair, err := nkeys.FromSeed([]byte(strings.TrimSpace(string(seed))))
		if err != nil {
			t.Fatal(err)
		}
		public, _ := pair.PublicKey()
		for _, u := range users {
			if (u.Key == public) != (u.Name == want) {
				t.Errorf("%s is the key of %s", file, u.Name)
			}
		}
	}
}

// checkCert looks whether others believe a server's certificate, and whether it fits its key.
func checkCert(t *testing.T, m Machine) {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(m.path(serverCert), m.path(serverKey))
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.ReadFile(m.path(caCert))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(root)
	for _, name := range []string{map[string]string{"n1": "10.0.0.1", "n2": "n2.lan", "n3": "fd00::3"}[m.Name], "127.0.0.1", "localhost"} {
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}); err != nil {
			t.Errorf("%s as %s: %v", m.Name, name, err)
		}
	}
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		t.Errorf("%s as a client: %v", m.Name, err)
	}
	if err := pair.Leaf.VerifyHostname("10.0.0.9"); err == nil {
		t.Errorf("%s may be another server", m.Name)
	}
}

func TestJoiningTwice(t *testing.T) {
	dirs, tokens := made(t)
	before, err := os.ReadFile(filepath.Join(dirs["n2"], serverFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dirs["n2"], "store.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if m, err := Join(dirs["n2"], " "+tokens[0].Word+"\n", false); err != nil || m.Name != "n2" {
		t.Errorf("the same token: %+v, %v", m, err)
	}
	if _, err := Join(dirs["n2"], tokens[1].Word, true); !errors.Is(err, ErrConfig) {
		t.Errorf("another token: %v", err)
	}
	if _, err := Make(dirs["n2"], plan(t)); !errors.Is(err, ErrConfig) {
		t.Errorf("a new cluster over an old one: %v", err)
	}
	if after, err := os.ReadFile(filepath.Join(dirs["n2"], serverFile)); err != nil || string(after) != string(before) {
		t.Errorf("the settings changed: %v", err)
	}
	if _, err := Read(t.TempDir()); !errors.Is(err, ErrConfig) {
		t.Errorf("a directory of no cluster: %v", err)
	}
}

// A token that was not copied whole is none, wherever it was cut or changed.
func TestDamagedTokens(t *testing.T) {
	_, tokens := made(t)
	word := tokens[2].Word
	for i := range word {
		for _, bad := range []string{word[:i], word[:i] + word[i+1:], word[:i] + "~" + word[i+1:]} {
			if _, err := parseToken(bad); !errors.Is(err, ErrConfig) {
				t.Fatalf("at %d of %d: %v", i, len(word), err)
			}
		}
	}
	evil, err := bundle{Files: map[string][]byte{"../../x": nil}}.token()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parseToken(evil); !errors.Is(err, ErrConfig) {
		t.Errorf("a token writes elsewhere: %v", err)
	}
}

func TestUidsMeanTheSame(t *testing.T) {
	root := map[string]uint32{"root": 4242}
	other := map[string]uint32{"somebody-else": 0}
	for _, c := range []struct {
		there  map[string]uint32
		owners []string
		ok     bool
	}{
		{nil, nil, true}, {map[string]uint32{"root": 0, "nobody-has-this-name": 4242}, nil, true},
		{root, nil, false}, {root, []string{"u4242"}, false}, {root, []string{"u7"}, true}, {other, nil, false}, {other, []string{"u0"}, false},
	} {
		if err := compareUids(c.there, c.owners); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrConfig) {
			t.Errorf("%v of %v: %v", c.there, c.owners, err)
		}
	}
	b := bundle{Machine{Cluster: "c", Name: "h", Servers: plan(t).Servers}, map[string][]byte{hostSeed: []byte("x")}, root}
	word, err := b.token()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "h")
	if _, err := Join(dir, word, false); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "root is 0 here and 4242 there") {
		t.Errorf("%v", err)
	}
	if m, err := Join(dir, word, true); err != nil || m.CheckUids() != nil {
		t.Errorf("%v, %v", err, m.CheckUids())
	}
	b.Uids = map[string]uint32{"root": 0, "nobody-has-this-name": 4242}
	if word, err = b.token(); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "later")
	m, err := Join(dir, word, false)
	if err != nil || m.CheckUids() != nil {
		t.Fatalf("%v, %v", err, m.CheckUids())
	}
	m.Uids["root"] = 4242 // as if a user had got another uid since
	if err := WriteJSON(filepath.Join(dir, machineFile), m); err != nil {
		t.Fatal(err)
	}
	if m, err = Read(dir); err != nil || !errors.Is(m.CheckUids(), ErrConfig) {
		t.Errorf("%v, %v", err, m.CheckUids())
	}
}

func TestMachinesComeAndGo(t *testing.T) {
	dirs, _ := made(t)
	m, err := Read(dirs["n1"])
	if err != nil {
		t.Fatal(err)
	}
	c, err := ReadServer(m.ServerFile())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name   string
		owners []string
		users  int
	}{{"phone", []string{"u1", "u2"}, 7}, {"laptop", nil, 6}, {"n3", nil, 6}} {
		users, token, err := m.Admit(c.Users, x.name, x.owners)
		if err != nil || len(users) != x.users || token.Server != (x.name == "n3") {
			t.Fatalf("%s: %d users, %v", x.name, len(users), err)
		}
		joined, err := Join(filepath.Join(t.TempDir(), x.name), token.Word, true)
		if err != nil || fmt.Sprint(joined.Owners) != fmt.Sprint(x.owners) || joined.Makes {
			t.Errorf("%+v, %v", joined, err)
		}
		if token.Server {
			checkCert(t, joined)
		}
		changed, err := m.SetUsers(users)
		if err != nil || !changed {
			t.Errorf("%s: %v", x.name, err)
		}
		if changed, err = m.SetUsers(users); err != nil || changed {
			t.Errorf("%s, again: %v", x.name, err)
		}
		if now, err := ReadServer(m.ServerFile()); err != nil || !reflect.DeepEqual(now.Users, users) {
			t.Errorf("%+v, %v", now, err)
		}
	}
	other, err := Read(dirs["n2"])
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := other.Admit(c.Users, "x", nil); !errors.Is(err, ErrConfig) {
		t.Errorf("on another machine: %v", err)
	}
	if _, _, err := m.Admit(c.Users, "n2", []string{"u1"}); !errors.Is(err, ErrConfig) {
		t.Errorf("a server of some owners: %v", err)
	}
	if _, _, err := m.Admit(c.Users, "system", nil); !errors.Is(err, ErrConfig) {
		t.Errorf("a name of ours: %v", err)
	}
	if left, err := Revoke(c.Users, "laptop"); err != nil || len(left) != 5 || len(c.Users) != 6 {
		t.Errorf("%d users, %v", len(left), err)
	}
	for _, name := range []string{"phone", "system", "maintenance"} {
		if _, err := Revoke(c.Users, name); !errors.Is(err, ErrConfig) {
			t.Errorf("%s is no host: %v", name, err)
		}
	}
	if _, err := m.SetUsers([]User{{Name: "x", Key: "y", Role: RoleHost}}); !errors.Is(err, ErrConfig) {
		t.Errorf("a user without a key: %v", err)
	}
}
