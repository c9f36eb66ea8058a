package volume

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// contentType is that of Docker's plugin protocol.
const contentType = "application/vnd.docker.plugins.v1.1+json"

// maxRequest is the most bytes of a request: names and options.
const maxRequest = 1 << 20

// How long a caller may take over a request, and keep a connection without one.
const (
	requestTime = 10 * time.Second
	idleTime    = 5 * time.Minute
)

// Plugin answers Docker on a socket.
type Plugin struct {
	volumes *Volumes
	log     *slog.Logger
	server  *http.Server
	done    chan struct{} // closed when Serve has returned
}

// Serve begins to answer on l, which it closes in the end.
func Serve(l net.Listener, v *Volumes, log *slog.Logger) *Plugin {
	p := &Plugin{volumes: v, log: log, done: make(chan struct{})}
	p.server = &http.Server{Handler: p.handler(), ReadTimeout: requestTime, IdleTimeout: idleTime, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
	go func() {
		defer close(p.done)
		if err := p.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the volume plugin has ended", "err", err)
		}
	}()
	return p
}

// Close answers what was asked, takes the socket away and returns. It may be called twice.
func (p *Plugin) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if p.server.Shutdown(ctx) != nil { // somebody holds a request open
		p.server.Close()
	}
	<-p.done
}

// request has the fields of all calls.
type request struct {
	Name string
	ID   string
	Opts map[string]string
}

// volumeJSON is a volume in an answer.
type volumeJSON struct {
	Name       string
	Mountpoint string
	CreatedAt  string         `json:",omitempty"`
	Status     map[string]any `json:",omitempty"` // docker volume inspect shows it
}

// The answers. Err is there in all of them, "" for success.
type (
	answer       struct{ Err string }
	activation   struct{ Implements []string }
	pathAnswer   struct{ Mountpoint, Err string }
	volumeAnswer struct {
		Volume *volumeJSON `json:",omitempty"`
		Err    string
	}
	listAnswer struct {
		Volumes []volumeJSON
		Err     string
	}
	capabilityAnswer struct {
		Capabilities struct{ Scope string }
		Err          string
	}
)

// calls are those of the protocol, by their paths.
var calls = map[string]func(*Volumes, request) (any, error){
	"/Plugin.Activate": func(*Volumes, request) (any, error) {
		return activation{[]string{"VolumeDriver"}}, nil
	},
	"/VolumeDriver.Capabilities": func(*Volumes, request) (any, error) {
		var a capabilityAnswer
		a.Capabilities.Scope = "local"
		return a, nil
	},
	"/VolumeDriver.Create": func(v *Volumes, r request) (any, error) {
		_, err := v.Create(r.Name, r.Opts)
		return answer{}, err
	},
	"/VolumeDriver.Remove": func(v *Volumes, r request) (any, error) {
		return answer{}, v.Remove(r.Name)
	},
	"/VolumeDriver.Mount": func(v *Volumes, r request) (any, error) {
		dir, err := v.Mount(r.Name, r.ID)
		return pathAnswer{Mountpoint: dir}, err
	},
	"/VolumeDriver.Unmount": func(v *Volumes, r request) (any, error) {
		return answer{}, v.Unmount(r.Name, r.ID)
	},
	"/VolumeDriver.Path": func(v *Volumes, r request) (any, error) {
		info, err := v.Get(r.Name)
		return pathAnswer{Mountpoint: info.Dir}, err
	},
	"/VolumeDriver.Get": func(v *Volumes, r request) (any, error) {
		info, err := v.Get(r.Name)
		j := info.json()
		return volumeAnswer{Volume: &j}, err
	},
	"/VolumeDriver.List": func(v *Volumes, _ request) (any, error) {
		a := listAnswer{Volumes: []volumeJSON{}}
		for _, info := range v.List() {
			a.Volumes = append(a.Volumes, info.json())
		}
		return a, nil
	},
}

func (i Info) json() volumeJSON {
	return volumeJSON{
		Name: i.Name, Mountpoint: i.Dir, CreatedAt: i.Created.Format(time.RFC3339),
		Status: map[string]any{"path": i.Place.Path(), "mounts": i.Mounts},
	}
}

func (p *Plugin) handler() http.Handler {
	mux := http.NewServeMux()
	for path, call := range calls {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			var req request
			err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest)).Decode(&req)
			if errors.Is(err, io.EOF) { // Plugin.Activate and List come without a body
				err = nil
			}
			if err != nil {
				err = ctxabi.E("volume", "", ctxabi.ErrMalformed, "the request is not JSON of the volume protocol: %v", err)
			}
			var a any
			if err == nil {
				a, err = call(p.volumes, req)
			}
			if err != nil {
				p.log.Info("volume: refused", "call", path, "name", req.Name, "reason", sentence(err))
				a = answer{sentence(err)}
			} else {
				p.log.Debug("volume", "call", path, "name", req.Name, "id", req.ID)
			}
			send(w, http.StatusOK, a)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		send(w, http.StatusNotFound, answer{"no such call: POST " + r.URL.Path + "; ctxfs is a volume driver"})
	})
	return mux
}

func send(w http.ResponseWriter, status int, a any) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(a) // the other side may be gone; then nobody reads it
}
