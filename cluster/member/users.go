package member

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// Admit returns the users with one that has a new key, which replaces a user of the same name, and the
// token of its machine: a server of the cluster, or a host of some owners, of all if there are none. It
// is for the machine where the cluster was made, and returns ErrConfig elsewhere and for names that
// cannot be.
func (m Machine) Admit(users []User, name string, owners []string) ([]User, Token, error) {
	i := slices.IndexFunc(m.Servers, func(s Address) bool { return s.Name == name })
	if err := checkHost(User{Name: name, Owners: owners}); err != nil {
		return nil, Token{}, err
	}
	if i >= 0 && len(owners) > 0 {
		return nil, Token{}, fmt.Errorf("%w: %s is a server, which is a host of all owners", ErrConfig, name)
	}
	k := kit{cluster: m.Cluster, servers: m.Servers}
	var err error
	if k.ca, err = m.readAuthority(); err != nil {
		return nil, Token{}, err
	}
	u, seed, err := newUser(name, RoleHost, owners...)
	if err != nil {
		return nil, Token{}, err
	}
	k.users = append(without(users, name), u)
	b := k.host(name, owners, seed)
	if i >= 0 {
		if k.maintenance, err = os.ReadFile(m.path(maintenanceSeed)); err != nil {
			return nil, Token{}, err
		}
		if k.system, err = os.ReadFile(m.path(systemSeed)); err != nil {
			return nil, Token{}, err
		}
		if b, err = k.server(m.Servers[i], seed, false); err != nil {
			return nil, Token{}, err
		}
	}
	word, err := b.token()
	return k.users, Token{name, i >= 0, word}, err
}

// Revoke returns the users without a host, which can no longer connect then. It returns ErrConfig if there
// is no host of the name.
func Revoke(users []User, name string) ([]User, error) {
	if !slices.ContainsFunc(users, func(u User) bool { return u.Name == name && u.Role == RoleHost }) {
		return nil, fmt.Errorf("%w: there is no host %q", ErrConfig, name)
	}
	return without(users, name), nil
}

// without returns the users but the one of a name.
func without(users []User, name string) []User {
	return slices.DeleteFunc(slices.Clone(users), func(u User) bool { return u.Name == name })
}

// SetUsers changes the users of the machine's server, and reports whether they were others. The server
// takes them at SIGHUP. It returns ErrConfig for users that cannot be.
func (m Machine) SetUsers(users []User) (changed bool, err error) {
	data, err := os.ReadFile(m.ServerFile())
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	var c Server
	if err := json.Unmarshal(data, &c); err != nil {
		return false, fmt.Errorf("%w: %s: %w", ErrConfig, m.ServerFile(), err)
	}
	before, err := json.Marshal(c.Users)
	if err != nil {
		return false, err
	}
	after, err := json.Marshal(users)
	if err != nil || bytes.Equal(before, after) {
		return false, err
	}
	c.Users = users
	if err := c.Check(); err != nil {
		return false, err
	}
	return true, WriteJSON(m.ServerFile(), c)
}
