package mounts

import "golang.org/x/sys/unix"

// Attr returns an extended attribute of a file in a mount that answers; "" if it has none, or one of more than 128 bytes.
func Attr(file, name string) string {
	var b [128]byte
	n, err := unix.Getxattr(file, name, b[:])
	if err != nil {
		return ""
	}
	return string(b[:n])
}
