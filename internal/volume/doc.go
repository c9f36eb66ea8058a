// Package volume answers Docker's volume protocol, so that a session is a volume:
//
//	docker volume create -d ctxfs -o session=coder/s1 memory
//	docker run -v memory:/session ...
//
// A volume is a name for a directory of the mount: a session, an agent's home or
// a user's home. It holds nothing itself. Making a volume makes the directory, as
// its owner's mkdir -p would; removing a volume forgets the name and leaves the
// session as it is.
//
// [Volumes] are the definitions, kept in a file that outlives the daemon, and who
// has mounted them. A mount is known by the id that Docker gives for it: the
// same id twice is one mount, so that an answer that got lost can be asked for
// again, and an id that is not known is unmounted already. Ids are not kept: a
// daemon that starts anew knows of no mounts, and Docker, which does, lets no
// volume of a container be removed.
//
// [Plugin] speaks the protocol, JSON over HTTP on a unix socket:
// https://docs.docker.com/engine/extend/plugins_volume/. It is told nothing
// of who asks: whoever may talk to Docker is root.
//
// What is refused is an [ctxabi.Error] with a sentence that Docker shows to whoever asked: ctxabi.ErrMalformed for a
// bad name or option, ErrNotFound where there is no such volume, space or directory, ErrExists for a name that means
// another one, ErrProtected for one that is mounted. Any other error is one of the disk; the volumes are as they were then.
//
// What is a directory of the mount, the mount decides: see [Tree].
//
// # Files, from top to bottom
//
//	plugin.go   the protocol
//	listen.go   its socket
//	volumes.go  the definitions, and who has them mounted
//	file.go     the file that keeps them
//	place.go    the directory that a volume stands for
package volume
