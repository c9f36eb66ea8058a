package main

import (
	"fmt"
	"net"
	"os"
	"sync"

	"github.com/coreos/go-systemd/v22/activation"
)

// volumeSocket is the name under which systemd hands over the socket of the
// volume plugin: FileDescriptorName= in dist/systemd/ctxfs-volume.socket.
const volumeSocket = "ctxfs-volume"

// takeSockets returns what systemd passed (sd_listen_fds(3)). The first call
// takes it out of the environment and keeps it from what this process starts,
// so serve makes it before the runner starts.
var takeSockets = sync.OnceValue(func() []*os.File { return activation.Files(true) })

// passedSocket returns the listening socket that systemd passed under name, nil
// when there is none. Each is given away once: the caller closes it. Closing
// it leaves its name in the filesystem, which is systemd's.
func passedSocket(name string) (net.Listener, error) {
	for _, f := range takeSockets() {
		if f.Name() != name || f.Fd() == ^uintptr(0) { // another one, or one that was given away
			continue
		}
		l, err := net.FileListener(f)
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("the socket %s that systemd passed is not a listening socket: %w", name, err)
		}
		return l, nil
	}
	return nil, nil
}
