package daemon

import (
	"context"
	"log/slog"
	"os/exec"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"
)

// touchesPerWatchdog is the number of mount checks per watchdog timeout of systemd.
const touchesPerWatchdog = 4

// Watch checks regularly that the mount at point answers, and notifies the watchdog of systemd
// (WatchdogSec=) after each success. It runs until the caller calls stop. A child process accesses
// the mount, because a daemon that accesses its own mount can deadlock. If the mount stops
// answering, the notifications stop and systemd ends the daemon.
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

// watch calls touch once per interval and passes the result to tell, until ctx ends.
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
