package volume

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// The options of a volume: docker volume create -o KEY=VALUE.
const (
	OptSession = "session" // AGENT/SESSION, or as the tree names it: home/UID/agent/AGENT/session/SESSION, shared/SPACE/...
	OptAgent   = "agent"   // an agent's home, with all of its sessions
	OptHome    = "home"    // a user's home, by uid: all agents of the user
	OptUID     = "uid"     // whose session or agent it is; 0, root, where none is given
)

// optionHelp is what a refused option is answered with.
const optionHelp = "use one of session=AGENT/SESSION, agent=AGENT or home=UID, and uid=UID with the first two where the container's user is not root"

// Place is the directory of the mount that a volume stands for.
type Place struct {
	Ref   ctxabi.Ref // without Session: the agent's home; without Agent, too: the user's
	Owner uint32     // to whom belongs what has to be made: Ref.UID, in a shared space any user
}

// Path is the directory below the mount's root: "home/1000/agent/coder/session/s1".
func (p Place) Path() string {
	switch {
	case p.Ref.Session != "":
		return p.Ref.Path()
	case p.Ref.Agent != "":
		return p.Ref.AgentHome()
	}
	return p.Ref.Owner()
}

// ParseOptions reads what docker volume create was given. Anything else than
// the options above is refused: a misspelt one would be another session.
func ParseOptions(opts map[string]string) (Place, error) {
	refuse := func(format string, args ...any) (Place, error) {
		return Place{}, ctxabi.E("volume", "", ctxabi.ErrMalformed, format, args...)
	}
	kinds := 0
	for _, key := range sortedKeys(opts) {
		switch key {
		case OptSession, OptAgent, OptHome:
			kinds++
		case OptUID:
		default:
			return refuse("unknown option %q; %s", key, optionHelp)
		}
	}
	if kinds != 1 {
		return refuse("a volume is one directory: %s", optionHelp)
	}
	uid, hasUID := uint32(0), false
	if text, ok := opts[OptUID]; ok {
		if uid, hasUID = ctxabi.ParseUID(text); !hasUID {
			return refuse("uid=%s: a uid is a number below 4294967295, for example uid=1000", text)
		}
	}
	p := Place{Ref: ctxabi.Ref{UID: uid}, Owner: uid}
	switch {
	case opts[OptHome] != "":
		home, ok := ctxabi.ParseUID(opts[OptHome])
		if !ok {
			return refuse("home=%s: a home is named by its user's number, for example home=1000", opts[OptHome])
		}
		p = Place{Ref: ctxabi.Ref{UID: home}, Owner: home}
	case opts[OptAgent] != "":
		if err := ctxabi.ValidName(opts[OptAgent]); err != nil {
			return refuse("agent=%s: %s", opts[OptAgent], sentence(err))
		}
		p.Ref.Agent = opts[OptAgent]
		return p, nil
	case opts[OptSession] != "":
		ref, err := parseSession(opts[OptSession], uid)
		if err != nil {
			return refuse("session=%s: %s", opts[OptSession], sentence(err))
		}
		p.Ref = ref
		if ref.Space != "" {
			return p, nil
		}
		p.Owner = ref.UID
	default:
		return refuse("an option is empty; %s", optionHelp)
	}
	if hasUID && uid != p.Owner {
		return refuse("uid=%d, but the home is that of %d; leave uid away", uid, p.Owner)
	}
	return p, nil
}

// parseSession reads AGENT/SESSION of uid, or the path of a session in the tree.
func parseSession(text string, uid uint32) (ctxabi.Ref, error) {
	if parts := strings.Split(text, "/"); len(parts) == 2 {
		ref := ctxabi.Ref{UID: uid, Agent: parts[0], Session: parts[1]}
		for _, name := range parts {
			if err := ctxabi.ValidName(name); err != nil {
				return ref, err
			}
		}
		return ref, nil
	}
	ref, err := ctxabi.ParseRef(text)
	if err == nil && ref.Path() != text { // a slash too many
		err = ctxabi.E("volume", "", ctxabi.ErrMalformed, "write %s", ref.Path())
	}
	return ref, err
}

// parsePath reads what Place.Path wrote. Nothing else is taken: what stands in
// the file of volumes may have been edited.
func parsePath(text string) (Place, error) {
	parts := strings.Split(text, "/")
	full := slices.Concat(parts, []string{ctxabi.AgentDir, "a", ctxabi.SessionDir, "s"}[min(max(len(parts)-2, 0), 4):])
	ref, err := ctxabi.ParseRef(path.Join(full...))
	if err != nil {
		return Place{}, err
	}
	if len(parts) < 6 {
		ref.Session = ""
	}
	if len(parts) < 4 {
		ref.Agent = ""
	}
	p := Place{Ref: ref, Owner: ref.UID}
	if p.Path() != text {
		return Place{}, ctxabi.E("volume", "", ctxabi.ErrMalformed, "%q is not a directory of the mount", text)
	}
	return p, nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// sentence is what a person reads of an error: of a refusal its own words, as the verbs of ctxfs print it.
func sentence(err error) string {
	var e *ctxabi.Error
	if errors.As(err, &e) && e.Why != "" && e.Err == nil {
		return e.Why
	}
	return err.Error()
}
