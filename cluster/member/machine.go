package member

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	client "github.com/nats-io/nats.go"

	"github.com/ctxfs/ctxfs/cluster/nats"
)

// Files of a machine, in its directory. All are for their owner alone.
const (
	machineFile     = "cluster.json"     // Machine; it is written last
	serverFile      = "server.json"      // Server: of a server
	serverCert      = "server.pem"       // of a server
	serverKey       = "server.key"       // of a server
	caCert          = "ca.pem"           // who signs the certificates of servers
	caKey           = "ca.key"           // of the machine where the cluster was made
	hostSeed        = "host.seed"        // secret key of the host's user
	maintenanceSeed = "maintenance.seed" // of a server
	systemSeed      = "system.seed"      // of a server
	storeFile       = "store.json"       // what serve remembers
)

// Names of users that are no hosts.
const (
	maintenanceUser = "maintenance"
	systemUser      = "system"
)

// Address is where a server is.
type Address struct {
	Name   string `json:"name"`
	Hosts  string `json:"hosts"`  // host:port for hosts
	Routes string `json:"routes"` // host:port for servers
}

// URL returns the address for hosts.
func (a Address) URL() string { return "tls://" + a.Hosts }

// Machine is what a machine knows of its cluster.
type Machine struct {
	Cluster string    `json:"cluster"`
	Name    string    `json:"name"` // of the server, or of the host
	Servers []Address `json:"servers"`
	Owners  []string  `json:"owners,omitempty"` // whom the host serves; all if empty
	Token   string    `json:"token,omitempty"`  // hash of the token that it joined with
	Makes   bool      `json:"makes,omitempty"`  // its server makes the streams of a cluster that has none
	// Uids are those of users where the cluster was made, by name, by the time of the token; none if they need not be the same.
	Uids map[string]uint32 `json:"uids,omitempty"`

	dir string
}

// Read reads what the machine of a directory knows. It returns ErrConfig if it is of no cluster.
func Read(dir string) (m Machine, err error) {
	data, err := os.ReadFile(filepath.Join(dir, machineFile))
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("%w: %s is of no cluster; ctxfs cluster init makes one, ctxfs cluster join enters one", ErrConfig, dir)
	}
	if err != nil {
		return m, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("%w: %s: %w", ErrConfig, filepath.Join(dir, machineFile), err)
	}
	if m.dir, err = filepath.Abs(dir); err != nil {
		return m, err
	}
	if len(m.Servers) != replicas || m.Cluster == "" {
		return m, fmt.Errorf("%w: %s: %d servers, want %d", ErrConfig, filepath.Join(dir, machineFile), len(m.Servers), replicas)
	}
	return m, nil
}

// replicas is how many servers a cluster has.
const replicas = 3

// Dir returns the directory of the machine.
func (m Machine) Dir() string { return m.dir }

// ServerFile returns the path of the settings of the machine's server.
func (m Machine) ServerFile() string { return m.path(serverFile) }

// StoreFile returns the path of what serve remembers.
func (m Machine) StoreFile() string { return m.path(storeFile) }

// IsServer reports whether the machine is one of the servers.
func (m Machine) IsServer() bool { return m.has(serverFile) }

// IsHost reports whether the machine may serve sessions.
func (m Machine) IsHost() bool { return m.has(hostSeed) }

// Maintains reports whether the machine has the keys of the maintenance user.
func (m Machine) Maintains() bool { return m.has(maintenanceSeed) && m.has(systemSeed) }

// MakesTokens reports whether the cluster was made on this machine, so that it signs certificates.
func (m Machine) MakesTokens() bool { return m.has(caKey) }

func (m Machine) path(name string) string { return filepath.Join(m.dir, name) }

func (m Machine) has(name string) bool {
	_, err := os.Stat(m.path(name))
	return err == nil
}

// Maintenance returns what an engine of the maintenance user needs. Its own server comes first. It
// returns ErrConfig if the machine has no such keys.
func (m Machine) Maintenance() (o nats.Options, err error) {
	o = m.options(maintenanceUser)
	if o.Auth, err = m.auth(maintenanceSeed); err != nil {
		return o, err
	}
	if o.System, err = m.auth(systemSeed); err != nil {
		return o, err
	}
	o.System = append(o.System, client.CustomInboxPrefix(nats.Inbox(systemUser)))
	return o, nil
}

// Host returns what the engine of the machine's host needs. It returns ErrConfig if the machine is none.
func (m Machine) Host() (o nats.Options, err error) {
	o = m.options(m.Name)
	o.Owners = m.Owners
	o.Auth, err = m.auth(hostSeed)
	return o, err
}

func (m Machine) options(user string) nats.Options {
	o := nats.Options{Host: user}
	for _, s := range m.Servers {
		if s.Name == m.Name {
			o.Servers = append([]string{s.URL()}, o.Servers...)
		} else {
			o.Servers = append(o.Servers, s.URL())
		}
	}
	return o
}

// auth returns the credentials in a file.
func (m Machine) auth(seed string) ([]client.Option, error) {
	key, err := client.NkeyOptionFromSeed(m.path(seed))
	if err != nil {
		return nil, fmt.Errorf("%w: %s has no key: %w", ErrConfig, m.path(seed), err)
	}
	return []client.Option{key, client.RootCAs(m.path(caCert))}, nil
}

// Reach returns what the engine of a host needs whose machine has no directory: a file with the secret key of its user,
// and one with the certificate of who signs those of servers, "" for that of the system. It returns ErrConfig if the
// files are not what they should be.
func Reach(servers []string, host, seed, ca string) (o nats.Options, err error) {
	o = nats.Options{Servers: servers, Host: host}
	if seed != "" {
		key, err := client.NkeyOptionFromSeed(seed)
		if err != nil {
			return o, fmt.Errorf("%w: %s has no key: %w", ErrConfig, seed, err)
		}
		o.Auth = append(o.Auth, key)
	}
	if ca != "" {
		if _, err := os.Stat(ca); err != nil {
			return o, fmt.Errorf("%w: %w", ErrConfig, err)
		}
		o.Auth = append(o.Auth, client.RootCAs(ca))
	}
	return o, nil
}

// ParseAddress parses NAME=HOST[:PORT[:PORT]], where the first port is for hosts (4222) and the second
// one for servers (the first one and 2,000). It returns ErrConfig for anything else.
func ParseAddress(s string) (a Address, err error) {
	name, at, ok := strings.Cut(s, "=")
	parts := strings.Split(at, ":")
	if strings.HasPrefix(at, "[") { // an address of IPv6
		end := strings.Index(at, "]")
		parts = append([]string{at[1:max(1, end)]}, strings.Split(strings.TrimPrefix(at[max(0, end)+1:], ":"), ":")...)
		if parts[1] == "" {
			parts = parts[:1]
		}
	}
	if !ok || !plainName().MatchString(name) || parts[0] == "" || len(parts) > 3 {
		return a, fmt.Errorf("%w: server %q: want NAME=HOST, NAME=HOST:PORT or NAME=HOST:PORT:PORT", ErrConfig, s)
	}
	hosts, routes := "4222", ""
	if len(parts) > 1 {
		hosts = parts[1]
	}
	if len(parts) > 2 {
		routes = parts[2]
	} else {
		var n int
		fmt.Sscanf(hosts, "%d", &n)
		routes = fmt.Sprint(n + 2000)
	}
	a = Address{Name: name, Hosts: net.JoinHostPort(parts[0], hosts), Routes: net.JoinHostPort(parts[0], routes)}
	if !isAddress(a.Hosts) || !isAddress(a.Routes) || a.Hosts == a.Routes {
		return a, fmt.Errorf("%w: server %q: want two ports", ErrConfig, s)
	}
	return a, nil
}
