// Package volume implements Docker's volume protocol, so that a container can mount a session:
//
//	docker volume create -d ctxfs -o session=coder/s1 memory
//	docker run -v memory:/session ...
//
// A volume is a name for a directory of the mount: a session, the home of an agent, or the home of
// a user. It holds no data. Creating a volume creates the directory, as mkdir -p of its owner
// would; removing a volume removes the name only.
//
//	Docker → socket (listen.go) → Plugin, JSON over HTTP (plugin.go) → Volumes (volumes.go)
//	  → options (place.go), file of definitions (file.go), Tree (the mount)
//
// # Decisions
//
//   - options of docker volume create, and the directory that they mean: place.go
//   - which calls Docker may make, size and time limits of requests: plugin.go, after
//     https://docs.docker.com/engine/extend/plugins_volume/
//   - access: listen.go makes the socket for root alone. The protocol names no user, so every
//     caller that may talk to Docker counts as root
//   - repeated calls: volumes.go. A mount is identified by Docker's id; the same id twice is one
//     mount, and an unknown id is already unmounted. Ids are not stored: Docker protects used
//     volumes after a restart of the daemon
//   - file of definitions, replaced atomically: file.go
//   - creation and existence of a directory: the mount, through [Tree]
//
// A refusal is an [ctxabi.Error] that Docker shows to the user: ErrMalformed for a bad name or
// option, ErrNotFound for a missing volume, space, or directory, ErrExists for a name with another
// directory, ErrProtected for a mounted volume. Any other error is a disk error; the volumes are
// then unchanged.
//
// # Files, from top to bottom
//
//	plugin.go   protocol
//	listen.go   socket
//	volumes.go  definitions and mounts of volumes
//	file.go     file of definitions
//	place.go    directory of a volume
package volume
