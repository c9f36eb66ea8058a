package member

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/nats-io/nkeys"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

// Roles of users.
const (
	RoleHost        = "host"        // a host that mounts
	RoleMaintenance = "maintenance" // who trims and mends: ctxfs cluster serve
	RoleSystem      = "system"      // the same, for questions to the servers themselves
)

// Accounts of the servers.
const (
	Account       = "CTX"
	SystemAccount = "SYS"
)

// Server is the settings of one server, as ctxfs-server reads them.
type Server struct {
	Cluster string   `json:"cluster"`           // name of the cluster, the same on all servers
	Name    string   `json:"name"`              // name of this server
	Listen  string   `json:"listen"`            // host:port for hosts
	Routes  string   `json:"routes"`            // host:port for the other servers
	Peers   []string `json:"peers"`             // host:port of Routes of the others
	Store   string   `json:"store"`             // directory for entries; nobody else uses it
	Disk    int64    `json:"disk"`              // bytes it may take of the disk; 0: 75 % of what is free
	Memory  int64    `json:"memory,omitempty"`  // bytes for what lies in memory; 0: 64 MiB
	KeyFile string   `json:"key_file"`          // key for what lies on the disk
	TLS     *TLS     `json:"tls,omitempty"`     // needed unless all addresses are of this machine
	Monitor string   `json:"monitor,omitempty"` // host:port of loopback for monitoring; none if empty
	Zone    string   `json:"zone,omitempty"`    // power or rack; no two replicas are in one. All servers have one or none
	Witness bool     `json:"witness,omitempty"` // accept no hosts but those of this machine
	Users   []User   `json:"users"`             // the same on all servers
}

// TLS names PEM files.
type TLS struct {
	CA   string `json:"ca"` // of all servers
	Cert string `json:"cert"`
	Key  string `json:"key"`
}

// User is a user that may connect.
type User struct {
	Name   string   `json:"name"` // letters, digits and dashes; of a host: its name
	Key    string   `json:"key"`  // public key, which begins with U
	Role   string   `json:"role"`
	Owners []string `json:"owners,omitempty"` // of a host: whom it serves; all if empty
}

// ErrConfig is the error of settings that no server or host runs with.
var ErrConfig = errors.New("the settings of the cluster are wrong")

// ReadServer reads settings from a JSON file. Relative paths in it are relative to the file. It returns
// ErrConfig for what it does not know or cannot be.
func ReadServer(name string) (c Server, err error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return c, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return c, fmt.Errorf("%w: %s: %w", ErrConfig, name, err)
	}
	dir := filepath.Dir(name)
	files := []*string{&c.Store, &c.KeyFile}
	if c.TLS != nil {
		files = append(files, &c.TLS.CA, &c.TLS.Cert, &c.TLS.Key)
	}
	for _, f := range files {
		if *f != "" && !filepath.IsAbs(*f) {
			*f = filepath.Join(dir, *f)
		}
	}
	if err := c.Check(); err != nil {
		return c, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}

var plainName = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9-]{0,62}$`)

// Check returns ErrConfig with all that is wrong, or nil.
func (c Server) Check() error {
	var wrong []error
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	for what, name := range map[string]string{"cluster": c.Cluster, "name": c.Name} {
		if !plainName().MatchString(name) {
			bad("%s: %q is no plain name", what, name)
		}
	}
	if c.Zone != "" && !plainName().MatchString(c.Zone) {
		bad("zone: %q is no plain name", c.Zone)
	}
	if c.Store == "" || c.KeyFile == "" {
		bad("store and key_file are needed")
	}
	if len(c.Peers) != 2 {
		bad("peers: %d other servers, want 2", len(c.Peers))
	}
	if c.Disk < 0 || c.Memory < 0 {
		bad("disk and memory are no sizes")
	}
	local := true
	for _, address := range slices.Concat([]string{c.Listen, c.Routes}, c.Peers) {
		if !isAddress(address) {
			bad("%q is no host:port", address)
		}
		local = local && loopback(address)
	}
	if !local && c.TLS == nil {
		bad("tls is needed, because not all addresses are of this machine")
	}
	if c.TLS != nil && (c.TLS.CA == "" || c.TLS.Cert == "" || c.TLS.Key == "") {
		bad("tls: ca, cert and key are needed")
	}
	if c.Monitor != "" && !loopback(c.Monitor) {
		bad("monitor: %q is not of this machine", c.Monitor)
	}
	if c.Witness && !loopback(c.Listen) {
		bad("listen: a witness accepts hosts of this machine alone, and %q is not of this machine", c.Listen)
	}
	wrong = append(wrong, checkUsers(c.Users)...)
	if wrong != nil {
		return fmt.Errorf("%w: %w", ErrConfig, errors.Join(wrong...))
	}
	return nil
}

// checkUsers returns an error for each user whose settings are not valid.
func checkUsers(users []User) (wrong []error) {
	names, keys := map[string]bool{}, map[string]bool{}
	for _, u := range users {
		bad := func(format string, args ...any) {
			wrong = append(wrong, fmt.Errorf("user %q: %w", u.Name, fmt.Errorf(format, args...)))
		}
		if !plainName().MatchString(u.Name) || names[u.Name] {
			bad("the name is no plain one, or is there twice")
		}
		if !nkeys.IsValidPublicUserKey(u.Key) || keys[u.Key] {
			bad("%q is no public key of a user, or is there twice", u.Key)
		}
		names[u.Name], keys[u.Key] = true, true
		if !slices.Contains([]string{RoleHost, RoleMaintenance, RoleSystem}, u.Role) {
			bad("there is no role %q", u.Role)
		}
		if len(u.Owners) > 0 && u.Role != RoleHost {
			bad("only hosts have owners")
		}
		for _, o := range u.Owners {
			if err := engine.CheckOwner(o); err != nil {
				bad("%w", err)
			}
		}
	}
	return wrong
}

// isAddress reports whether s is host:port.
func isAddress(s string) bool {
	host, port, err := net.SplitHostPort(s)
	n, bad := strconv.ParseUint(port, 10, 16)
	return err == nil && host != "" && bad == nil && n > 0
}

// loopback reports whether an address does not leave the machine.
func loopback(s string) bool {
	host, _, err := net.SplitHostPort(s)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}
