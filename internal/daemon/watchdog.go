package daemon

import (
	"context"
	"log/slog"
	"os/exec"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"
)

// touchesPerWatchdog is how often a mount is touched in the time after which systemd ends its daemon.
const touchesPerWatchdog = 4

// Watch notifies systemd, as often as the unit of this daemon asks for it (WatchdogSec=), that the mount at point
// answers, until the returned function is called. A child process touches the mount: a daemon that touches its own
// mount waits for itself. While the mount does not answer, systemd is not told, and ends the daemon.
func Watch(point string, log *slog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	within, err := systemd.SdWatchdogEnabled(false)
	if err != nil {
		log.Warn("the watchdog of systemd is not served", "err", err)
	}
	if err == nil && within > 0 {
		go watch(ctx, within/touchesPerWatchdog, func(ctx context.Context) error {
			return exec.CommandContext(ctx, "/proc/self/exe", TouchVerb, point).Run()
		}, func(err error) {
			if err != nil {
				log.Error("the mount does not answer; the watchdog of systemd ends this daemon soon",
					"mountpoint", point, "err", err)
			} else if _, err := systemd.SdNotify(false, systemd.SdNotifyWatchdog); err != nil {
				log.Warn("systemd is not told that the mount answers", "err", err)
			}
		})
	}
	return cancel
}

// watch calls touch in every interval until ctx ends, and tell with the result.
func watch(ctx context.Context, interval time.Duration, touch func(context.Context) error, tell func(error)) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for ctx.Err() == nil {
		err := touch(ctx)
		if ctx.Err() != nil {
			return
		}
		tell(err)
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}
