package bodies

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ctxfs/ctxfs/agents/adapter"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Element is one of a file.
type Element struct {
	Where string
	Raw   json.RawMessage // nil when it is no JSON
	Line  adapter.Line    // N is 0 when it is none of its own
}

// Elements returns the elements of a file and the form in which they stand there. An end that is missing, and a file without any,
// is a loss. It returns the error of r, if that fails.
func Elements(r io.Reader, out adapter.Output) (list []Element, as string, err error) {
	list, as, lost, err := takeApart(r)
	switch {
	case err != nil:
		return nil, "", err
	case lost != nil:
		out.Loss(*lost)
	case len(list) == 0:
		out.Loss(adapter.Loss{Where: "the transcript", What: "is empty"})
	}
	return list, as, nil
}

// takeApart returns what elements does; lost is what is missing at the end.
func takeApart(r io.Reader) (list []Element, as string, lost *adapter.Loss, err error) {
	data, err := io.ReadAll(adapter.Decoded(r))
	if err != nil {
		return nil, "", nil, err
	}
	doc := bytes.TrimSpace(data)
	line, _, several := bytes.Cut(doc, []byte("\n"))
	switch {
	case len(doc) == 0:
		return nil, AsLines, nil, nil
	case doc[0] == '[' && (json.Valid(doc) || !several || !json.Valid(line)):
		if list, lost = arrayElements(doc); len(list) > 0 || lost == nil {
			return list, AsArray, lost, nil
		}
	case doc[0] == '{' && several && !json.Valid(line):
		if list = valueElements(doc); list != nil {
			return list, AsDocument, nil, nil
		}
	}
	list, err = lineElements(data)
	return list, AsLines, nil, err
}

// arrayElements takes an array as far as it goes.
func arrayElements(doc []byte) (list []Element, lost *adapter.Loss) {
	end := 1 // of what was taken
	whole := ctxabi.EachElement(doc, adapter.MaxObjectNesting, func(v []byte) {
		end = cap(doc) - cap(v) + len(v)
		list = append(list, Element{Where: fmt.Sprintf("message %d", len(list)+1), Raw: v[:len(v):len(v)]})
	})
	if whole {
		return list, nil
	}
	rest := bytes.TrimLeft(doc[end:], " \t\r\n")
	if after, closed := bytes.CutPrefix(rest, []byte("]")); closed {
		return append(list, Element{Line: adapter.Line{Bytes: bytes.TrimSpace(after), Problem: "is not JSON"}}), nil
	}
	apart := len(rest) == 0 || bytes.HasPrefix(rest, []byte(",")) == (len(list) > 0)
	rest = bytes.TrimLeft(rest, ", \t\r\n")
	var v json.RawMessage
	if err := json.NewDecoder(bytes.NewReader(rest)).Decode(&v); apart && (err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF)) {
		return list, &adapter.Loss{Where: fmt.Sprintf("message %d", len(list)+1), What: "is cut off: the transcript ends in it; import again when it is whole"}
	}
	return append(list, Element{Where: "what follows it", Line: adapter.Line{Bytes: rest, Problem: "is not JSON"}}), nil
}

// valueElements takes JSON values behind each other; nil when the first one is none.
func valueElements(doc []byte) (list []Element) {
	d := json.NewDecoder(bytes.NewReader(doc))
	for {
		var v json.RawMessage
		from := d.InputOffset()
		err := d.Decode(&v)
		switch {
		case err == nil:
			list = append(list, Element{Where: fmt.Sprintf("value %d", len(list)+1), Raw: v})
			continue
		case err != io.EOF && list != nil:
			list = append(list, Element{Line: adapter.Line{Bytes: bytes.TrimSpace(doc[from:]), Problem: "is not JSON"}})
		}
		return list
	}
}

func lineElements(data []byte) (list []Element, err error) {
	lines := adapter.NewLines(bytes.NewReader(data))
	for {
		l, err := lines.NextOf(adapter.MaxDocument) // a body may be larger than a record
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return list, err
		}
		if len(l.Bytes) == 0 {
			continue
		}
		e := Element{Where: l.Where(), Line: l}
		if l.Problem == "" && json.Valid(l.Bytes) {
			e.Raw = l.Bytes
		}
		list = append(list, e)
	}
}
