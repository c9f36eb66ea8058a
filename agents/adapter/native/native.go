package native

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/ctxfs/ctxfs/agents/adapter"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Format is a session itself as one file: its records, byte by byte, in
// sections. A section begins with a line that is no record of a session:
//
//	{"ctxfs":"messages","version":1}
//	{"ctxfs":"events"}
//	{"ctxfs":"messages","child":"review"}
//
// Each says which log the lines after it are of, and of which child. Lines
// before the first are told apart by their fields, so that messages.jsonl and
// events.jsonl of a session, or both one after the other, can be read as well.
//
// Its records get no stamp: one that the session has is one of the same bytes.
var Format = &adapter.Format{
	Name:     "native",
	Title:    "ctxfs session (JSONL)",
	Verbatim: true,
	Sniff:    sniffNative,
	Import:   importNative,
	Export:   exportNative,
}

const (
	nativeKey     = "ctxfs"
	nativeVersion = 1
)

func sniffNative(name string, head []byte) int {
	line, err := adapter.NewLines(bytes.NewReader(head)).Next()
	if err != nil {
		return 0
	}
	o, err := adapter.ParseObject(line.Bytes)
	switch base := filepath.Base(name); {
	case err != nil:
		return 0
	case section(o) != "":
		return 100
	case o.Object(adapter.StampKey).Has("format") && o.Object(adapter.StampKey).Has("ids"):
		return 95
	case base == ctxabi.MessagesFile && ctxabi.CheckMessage(line.Bytes) == nil, base == ctxabi.EventsFile && ctxabi.CheckEvent(line.Bytes) == nil:
		return 60
	case mostAreMessages(head):
		return 10 // many others look like that, too
	}
	return 0
}

// mostAreMessages reports whether most lines at the beginning of a file are non-empty session
// messages.
func mostAreMessages(head []byte) bool {
	read, all := 0, 0
	for line := range bytes.Lines(head) {
		line = bytes.TrimSpace(line)
		o, err := adapter.ParseObject(line)
		if err != nil {
			continue
		}
		if all++; ctxabi.CheckMessage(line) == nil && (o.Has("content") || o.Has("tool_calls") || !o.Has("role")) {
			read++
		}
	}
	return read > 0 && 2*read >= all
}

// section is what a line that begins a section holds, "" for a record.
func section(o adapter.Object) string {
	if o.Has("role") || o.Has("type") {
		return ""
	}
	return o.Text(nativeKey)
}

func importNative(in *adapter.Input, out adapter.Output) error {
	lines, ids := adapter.NewLines(in.R), map[string]adapter.Counter{}
	chain, log := "", ""
	for at := 0; ; at++ {
		line, err := lines.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		o, err := adapter.ParseObject(line.Bytes)
		if err == nil && section(o) != "" {
			chain, log = o.Text("child"), section(o)
			if string(o.Get("version")) != "" && string(o.Get("version")) != fmt.Sprint(nativeVersion) {
				out.Loss(adapter.Loss{Where: line.Where(), What: fmt.Sprintf("is of version %s, this ctxfs knows %d; what follows is read as far as it is understood", o.Get("version"), nativeVersion)})
			}
			continue
		}
		r := adapter.Record{Chain: chain, Line: line.Bytes}
		problem := line.Problem
		if problem == "" {
			r.Event, problem = nativeLog(log, r)
		}
		count := chain + "\x00" + fmt.Sprint(r.Event, problem != "")
		if ids[count] == nil {
			ids[count] = adapter.Counter{}
		}
		id := ids[count].ID(line.Bytes)
		if problem != "" {
			err = line.Keep(in, out, adapter.Stamp{Format: "native", IDs: []string{id}, At: []int{at}}, problem)
		} else if err = nil; !in.Seen(chain, adapter.OwnID(r.Event, id)) {
			err = out.Record(r)
		}
		if err != nil {
			return err
		}
	}
}

// nativeLog returns which log a line is of, or what is wrong with it. log is the
// section it stands in, "" where there is none.
func nativeLog(log string, r adapter.Record) (event bool, problem string) {
	asMessage, asEvent := ctxabi.CheckMessage(r.Line), ctxabi.CheckEvent(r.Line)
	switch {
	case log != "events" && asMessage == nil:
		return false, ""
	case log != "messages" && asEvent == nil:
		return true, ""
	case log == "events" || log == "" && !bytes.Contains(r.Line, []byte(`"role"`)):
		return true, "is not an event: " + adapter.Why(asEvent)
	}
	return false, "is not a message: " + adapter.Why(asMessage)
}

func exportNative(src *adapter.Source, w io.Writer) error {
	type log struct {
		chain string
		event bool
	}
	logs := map[log][]adapter.Record{}
	chains := []string{""}
	for _, r := range src.Records {
		if !slices.Contains(chains, r.Chain) {
			chains = append(chains, r.Chain)
		}
		logs[log{r.Chain, r.Event}] = append(logs[log{r.Chain, r.Event}], r)
	}
	out := bufio.NewWriterSize(w, 256<<10)
	for _, chain := range chains {
		for _, event := range []bool{false, true} {
			head := adapter.Object{{nativeKey, adapter.Raw(map[bool]string{false: "messages", true: "events"}[event])}}
			switch {
			case chain == "" && !event:
				head = head.With("version", nativeVersion)
			case len(logs[log{chain, event}]) == 0:
				continue
			case chain != "":
				head = head.With("child", chain)
			}
			out.Write(adapter.Raw(head))
			out.WriteByte('\n')
			for _, r := range logs[log{chain, event}] {
				out.Write(r.Line)
				out.WriteByte('\n')
			}
		}
	}
	return out.Flush()
}
