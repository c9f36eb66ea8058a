package fs

import (
	"context"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

func (p *plain) Readdir(ctx context.Context) (gofs.DirStream, syscall.Errno) {
	release, errno := p.reserve(ctx)
	if errno != 0 {
		return nil, errno
	}
	fd, _, err := p.open(unix.O_RDONLY | unix.O_DIRECTORY)
	if err != nil {
		release()
		return nil, errnoOf(err)
	}
	ds, errno := gofs.NewLoopbackDirStreamFd(fd) // which closes fd with itself
	if errno != 0 {
		unix.Close(fd)
		release()
		return nil, errno
	}
	return &plainStream{DirStream: ds, dir: fd, rootDev: p.t.rootDev, release: release}, 0
}

var _ = (gofs.NodeOpendirHandler)((*plain)(nil))

func (p *plain) OpendirHandle(ctx context.Context, flags uint32) (gofs.FileHandle, uint32, syscall.Errno) {
	p.noteOpen(ctx)
	ds, errno := p.Readdir(ctx)
	if errno != 0 {
		return nil, 0, errno
	}
	return ds, 0, 0
}

// plainStream lists a directory of the disk without the names that [hidden] reports.
type plainStream struct {
	gofs.DirStream
	dir     int // the directory
	rootDev uint64
	release func() // ends what it counts for
}

var (
	_ = (gofs.FileReaddirenter)((*plainStream)(nil))
	_ = (gofs.FileSeekdirer)((*plainStream)(nil))
	_ = (gofs.FileReleasedirer)((*plainStream)(nil))
	_ = (gofs.FileFsyncdirer)((*plainStream)(nil))
)

func (s *plainStream) Readdirent(ctx context.Context) (*fuse.DirEntry, syscall.Errno) {
	for {
		e, errno := s.DirStream.(gofs.FileReaddirenter).Readdirent(ctx)
		if e == nil || errno != 0 {
			return nil, errno
		}
		if hidden(e.Name) {
			continue
		}
		if x, err := statName(s.dir, e.Name); err == nil {
			e.Ino = numberOf(plainAttr(x, s.rootDev).Ino) // as stat says
		} else {
			e.Ino = numberOf(e.Ino | plainBit) // it went away meanwhile
		}
		return e, 0
	}
}

func (s *plainStream) Seekdir(ctx context.Context, off uint64) syscall.Errno {
	return s.DirStream.(gofs.FileSeekdirer).Seekdir(ctx, off)
}

func (s *plainStream) Close() {
	s.DirStream.Close()
	s.release()
}

func (s *plainStream) Releasedir(ctx context.Context, flags uint32) { s.Close() }

func (s *plainStream) Fsyncdir(ctx context.Context, flags uint32) syscall.Errno {
	return s.DirStream.(gofs.FileFsyncdirer).Fsyncdir(ctx, flags)
}
