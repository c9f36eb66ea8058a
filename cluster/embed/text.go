package embed

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/cluster/member"
	"github.com/ctxfs/ctxfs/cluster/nats"
)

const (
	maxPayload    = 1 << 20
	defaultMemory = 64 << 20
)

// Text returns the settings in the format of nats-server. They hold key, the key for what lies on the
// disk, as it is. c is one that its Check is content with.
func Text(c member.Server, key string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	memory := c.Memory
	if memory == 0 {
		memory = defaultMemory
	}
	line("server_name: %s", quote(c.Name))
	line("listen: %s", quote(c.Listen))
	line("max_payload: %d", maxPayload)
	line("max_pending: %d", 64<<20)
	line("ping_interval: \"10s\"")
	line("write_deadline: \"10s\"")
	if c.Zone != "" {
		line("server_tags: [%s]", quote("az:"+c.Zone))
	}
	if c.Monitor != "" {
		line("http: %s", quote(c.Monitor))
	}
	line("jetstream {")
	line("  store_dir: %s", quote(c.Store))
	line("  sync_interval: always")
	line("  max_memory_store: %d", memory)
	if c.Disk > 0 {
		line("  max_file_store: %d", c.Disk)
	}
	if c.Zone != "" {
		line("  unique_tag: \"az:\"")
	}
	line("  cipher: chachapoly")
	line("  key: %s", quote(key))
	line("}")
	line("cluster {")
	line("  name: %s", quote(c.Cluster))
	line("  listen: %s", quote(c.Routes))
	line("  no_advertise: true")
	line("  connect_retries: 1000000")
	scheme := "nats"
	if c.TLS != nil {
		scheme = "tls"
		writeTLS(line, c.TLS, "  ", true)
	}
	var routes []string
	for _, p := range c.Peers {
		routes = append(routes, scheme+"://"+p)
	}
	line("  routes: [%s]", list(routes))
	line("}")
	if c.TLS != nil {
		writeTLS(line, c.TLS, "", false)
	}
	line("system_account: %s", member.SystemAccount)
	line("accounts {")
	line("  %s {", member.SystemAccount)
	writeUsers(line, c.Users, member.RoleSystem)
	line("  }")
	line("  %s {", member.Account)
	line("    jetstream: enabled")
	writeUsers(line, c.Users, member.RoleHost, member.RoleMaintenance)
	line("  }")
	line("}")
	return b.String()
}

// writeTLS writes a block of TLS, of both sides or of the server alone.
func writeTLS(line func(string, ...any), t *member.TLS, indent string, both bool) {
	line("%stls {", indent)
	line("%s  cert_file: %s", indent, quote(t.Cert))
	line("%s  key_file: %s", indent, quote(t.Key))
	if both {
		line("%s  ca_file: %s", indent, quote(t.CA))
		line("%s  verify: true", indent)
	}
	line("%s  min_version: \"1.3\"", indent)
	line("%s  timeout: 5", indent)
	line("%s}", indent)
}

// writeUsers writes the users that have one of the roles.
func writeUsers(line func(string, ...any), users []member.User, roles ...string) {
	line("    users: [")
	for _, u := range users {
		for _, role := range roles {
			if u.Role != role {
				continue
			}
			r := rights(u)
			line("      { nkey: %s, permissions: {", quote(u.Key))
			line("        publish: { allow: [%s] }", list(r.Publish))
			line("        subscribe: { allow: [%s] }", list(r.Subscribe))
			line("      } }")
		}
	}
	line("    ]")
}

// rights returns what a user may do.
func rights(u member.User) nats.Rights {
	switch u.Role {
	case member.RoleMaintenance:
		return nats.MaintenanceRights(u.Name)
	case member.RoleSystem:
		return nats.Rights{Publish: []string{"$SYS.REQ.SERVER.PING.JSZ"}, Subscribe: []string{nats.Inbox(u.Name) + ".>"}}
	}
	return nats.HostRights(u.Name, u.Owners...)
}

// quote returns s as a string of the format. A dollar sign at its beginning is no variable then.
func quote(s string) string { return strconv.Quote(s) }

// list returns strings of the format, with commas between.
func list(all []string) string {
	quoted := make([]string, len(all))
	for i, s := range all {
		quoted[i] = quote(s)
	}
	return strings.Join(quoted, ", ")
}
