package member

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net"
	"slices"

	"github.com/nats-io/nkeys"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// Plan is a cluster to be made.
type Plan struct {
	Cluster string    // its name
	Servers []Address // three
	Here    string    // which of them this machine is; none if empty
	Hosts   []User    // hosts that are no servers: name and owners
	Disk    int64     // bytes that each server may take of its disk; 0: 75 % of what is free at its start
}

// Check returns ErrConfig with the first thing that is wrong, or nil.
func (p Plan) Check() error {
	if !plainName().MatchString(p.Cluster) {
		return fmt.Errorf("%w: %q is no plain name of a cluster", ErrConfig, p.Cluster)
	}
	if len(p.Servers) != replicas {
		return fmt.Errorf("%w: %d servers, want %d: two of them keep going when one is lost", ErrConfig, len(p.Servers), replicas)
	}
	seen := map[string]bool{maintenanceUser: true, systemUser: true}
	add := func(what string) error {
		if seen[what] {
			return fmt.Errorf("%w: %q is there twice, or not to be used", ErrConfig, what)
		}
		seen[what] = true
		return nil
	}
	for _, s := range p.Servers {
		for _, what := range []string{s.Name, s.Hosts, s.Routes} {
			if err := add(what); err != nil {
				return err
			}
		}
	}
	for _, h := range p.Hosts {
		if err := add(h.Name); err != nil {
			return err
		}
		if err := checkHost(h); err != nil {
			return err
		}
	}
	if p.Here != "" && !slices.ContainsFunc(p.Servers, func(s Address) bool { return s.Name == p.Here }) {
		return fmt.Errorf("%w: %q is none of the servers", ErrConfig, p.Here)
	}
	return nil
}

// checkHost returns ErrConfig for a host that cannot be.
func checkHost(h User) error {
	if !plainName().MatchString(h.Name) || h.Name == maintenanceUser || h.Name == systemUser {
		return fmt.Errorf("%w: %q is no plain name of a host, or not to be used", ErrConfig, h.Name)
	}
	for _, o := range h.Owners {
		if err := engine.CheckOwner(o); err != nil {
			return fmt.Errorf("%w: host %s: %w", ErrConfig, h.Name, err)
		}
	}
	return nil
}

// Token is a word with which a machine joins. It is a secret: who has it can be that machine.
type Token struct {
	Name   string
	Server bool
	Word   string
}

// newUser returns a user with a new key, and the secret part of it.
func newUser(name, role string, owners ...string) (User, []byte, error) {
	pair, err := nkeys.CreatePairWithRand(nkeys.PrefixByteUser, rand.Reader)
	if err != nil {
		return User{}, nil, err
	}
	defer pair.Wipe()
	seed, err := pair.Seed()
	if err != nil {
		return User{}, nil, err
	}
	public, err := pair.PublicKey()
	return User{Name: name, Key: public, Role: role, Owners: owners}, append(seed, '\n'), err
}

// Make makes the keys and the certificates of a cluster, writes those of this machine to a directory, and
// returns the tokens of all other machines. It returns ErrConfig for a plan that cannot be, and if the
// directory is of a cluster already.
func Make(dir string, p Plan) ([]Token, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	ca, err := newAuthority(p.Cluster)
	if err != nil {
		return nil, err
	}
	var users []User
	seeds := map[string][]byte{}
	add := func(name, role string, owners ...string) {
		u, seed, bad := newUser(name, role, owners...)
		if bad != nil {
			err = bad
		}
		users, seeds[name] = append(users, u), seed
	}
	add(maintenanceUser, RoleMaintenance)
	add(systemUser, RoleSystem)
	for _, s := range p.Servers {
		add(s.Name, RoleHost)
	}
	for _, h := range p.Hosts {
		add(h.Name, RoleHost, h.Owners...)
	}
	if err != nil {
		return nil, err
	}
	k := kit{ca: ca, cluster: p.Cluster, servers: p.Servers, users: users, disk: p.Disk, maintenance: seeds[maintenanceUser], system: seeds[systemUser]}
	own := bundle{Machine{Cluster: p.Cluster, Servers: p.Servers}, map[string][]byte{
		caCert: ca.pem, maintenanceSeed: k.maintenance, systemSeed: k.system,
	}, nil}
	var tokens []Token
	for i, s := range p.Servers {
		b, err := k.server(s, seeds[s.Name], i == 0 && p.Here == "" || s.Name == p.Here)
		if err != nil {
			return nil, err
		}
		if s.Name == p.Here {
			own = b
			continue
		}
		if tokens, err = appendToken(tokens, s.Name, true, b); err != nil {
			return nil, err
		}
	}
	for _, h := range p.Hosts {
		if tokens, err = appendToken(tokens, h.Name, false, k.host(h.Name, h.Owners, seeds[h.Name])); err != nil {
			return nil, err
		}
	}
	if own.Files[caKey], err = privatePEM(ca.key); err != nil {
		return nil, err
	}
	return tokens, install(dir, own.Files, own.Machine)
}

func appendToken(list []Token, name string, server bool, b bundle) ([]Token, error) {
	word, err := b.token()
	return append(list, Token{name, server, word}), err
}

// kit is what bundles are made of.
type kit struct {
	ca                  authority
	cluster             string
	servers             []Address
	users               []User
	disk                int64
	maintenance, system []byte // secret keys
}

// server returns the bundle of a server, which is a host of all owners, too.
func (k kit) server(s Address, seed []byte, makes bool) (b bundle, err error) {
	cert, key, err := k.ca.sign(s)
	if err != nil {
		return b, err
	}
	c := Server{
		Cluster: k.cluster, Name: s.Name, Listen: listen(s.Hosts), Routes: listen(s.Routes), Store: "store", Disk: k.disk,
		KeyFile: "disk.key", TLS: &TLS{caCert, serverCert, serverKey}, Users: k.users,
	}
	for _, o := range k.servers {
		if o.Name != s.Name {
			c.Peers = append(c.Peers, o.Routes)
		}
	}
	if err := c.Check(); err != nil {
		return b, err
	}
	settings, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return b, err
	}
	b = k.host(s.Name, nil, seed)
	b.Machine.Makes = makes
	for name, data := range map[string][]byte{
		serverFile: append(settings, '\n'), serverCert: cert, serverKey: key, maintenanceSeed: k.maintenance, systemSeed: k.system,
	} {
		b.Files[name] = data
	}
	return b, nil
}

// host returns the bundle of a host.
func (k kit) host(name string, owners []string, seed []byte) bundle {
	return bundle{
		Machine{Cluster: k.cluster, Name: name, Servers: k.servers, Owners: owners},
		map[string][]byte{caCert: k.ca.pem, hostSeed: seed}, people(),
	}
}

// listen returns where a server listens that others reach at an address: there, if it does not leave the
// machine, else at all addresses of the machine, because a name or a translated address is none of them.
func listen(address string) string {
	host, port, _ := net.SplitHostPort(address)
	if loopback(address) {
		return address
	}
	if ip := net.ParseIP(host); ip != nil && ip.To4() == nil {
		return net.JoinHostPort("::", port)
	}
	return net.JoinHostPort("0.0.0.0", port)
}
