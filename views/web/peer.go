package web

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"net"
	"net/netip"
	"os"
	"strconv"
)

// tables are where the kernel lists the sockets of this network namespace. A client that speaks IPv4
// through an IPv6 socket stands in the second.
var tables = []string{"/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"}

// peerUID returns the uid of the process at the other end of a connection within this machine. ok is
// false if the kernel does not say, or if nobody holds that end any more.
func peerUID(c net.Conn) (uid int, ok bool) {
	theirs, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return 0, false
	}
	ours, err := netip.ParseAddrPort(c.LocalAddr().String())
	if err != nil {
		return 0, false
	}
	for _, name := range tables {
		table, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		if uid, ok := uidIn(table, theirs, ours); ok {
			return uid, true
		}
	}
	return 0, false
}

// uidIn finds in a table of sockets the one at local that is connected with remote.
func uidIn(table []byte, local, remote netip.AddrPort) (uid int, ok bool) {
	for line := range bytes.Lines(table) {
		f := bytes.Fields(line)
		if len(f) < 10 {
			continue
		}
		l, ok := tableAddr(string(f[1]))
		if !ok || l != unmapped(local) {
			continue
		}
		r, ok := tableAddr(string(f[2]))
		if !ok || r != unmapped(remote) || string(f[9]) == "0" { // an inode of 0: closed, and of no user any more
			continue
		}
		uid, err := strconv.ParseUint(string(f[7]), 10, 32)
		return int(uid), err == nil
	}
	return 0, false
}

func unmapped(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// tableAddr parses "0100007F:1F90": words of four bytes in the machine's order, and a port.
func tableAddr(text string) (a netip.AddrPort, ok bool) {
	host, port, found := bytes.Cut([]byte(text), []byte(":"))
	b, err := hex.DecodeString(string(host))
	if !found || err != nil || len(b)%4 != 0 {
		return a, false
	}
	for i := 0; i < len(b); i += 4 {
		binary.NativeEndian.PutUint32(b[i:], binary.BigEndian.Uint32(b[i:]))
	}
	ip, ok := netip.AddrFromSlice(b)
	n, err := strconv.ParseUint(string(port), 16, 16)
	if !ok || err != nil {
		return a, false
	}
	return netip.AddrPortFrom(ip.Unmap(), uint16(n)), true
}
