package session

// Files and directories of a store that belong to its daemon.
const (
	DaemonFile     = "ctxfs.daemon"     // describes the running daemon, so that others find it
	VolumesFile    = "ctxfs.volumes"    // its Docker volumes
	MountpointFile = "ctxfs.mountpoint" // its change to the directory below the mount
	StrayDir       = "stray"            // files written into that directory while it was not mounted
)
