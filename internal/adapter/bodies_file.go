package adapter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// element is one of a file.
type element struct {
	where string
	raw   json.RawMessage // nil when it is no JSON
	line  Line            // N is 0 when it is none of its own
}

// elements returns the elements of a file and the form in which they stand there. An end that is missing, and a file without any,
// is a loss. It returns the error of r, if that fails.
func elements(r io.Reader, out Output) (list []element, as string, err error) {
	list, as, lost, err := takeApart(r)
	switch {
	case err != nil:
		return nil, "", err
	case lost != nil:
		out.Loss(*lost)
	case len(list) == 0:
		out.Loss(Loss{"the transcript", "is empty"})
	}
	return list, as, nil
}

// takeApart returns what elements does; lost is what is missing at the end.
func takeApart(r io.Reader) (list []element, as string, lost *Loss, err error) {
	data, err := io.ReadAll(decoded(r))
	if err != nil {
		return nil, "", nil, err
	}
	doc := bytes.TrimSpace(data)
	line, _, several := bytes.Cut(doc, []byte("\n"))
	switch {
	case len(doc) == 0:
		return nil, asLines, nil, nil
	case doc[0] == '[' && (json.Valid(doc) || !several || !json.Valid(line)):
		if list, lost = arrayElements(doc); len(list) > 0 || lost == nil {
			return list, asArray, lost, nil
		}
	case doc[0] == '{' && several && !json.Valid(line):
		if list = valueElements(doc); list != nil {
			return list, asDocument, nil, nil
		}
	}
	list, err = lineElements(data)
	return list, asLines, nil, err
}

// arrayElements takes an array as far as it goes.
func arrayElements(doc []byte) (list []element, lost *Loss) {
	end := 1 // of what was taken
	whole := ctxabi.EachElement(doc, maxObjectNesting, func(v []byte) {
		end = cap(doc) - cap(v) + len(v)
		list = append(list, element{where: fmt.Sprintf("message %d", len(list)+1), raw: v[:len(v):len(v)]})
	})
	if whole {
		return list, nil
	}
	rest := bytes.TrimLeft(doc[end:], " \t\r\n")
	if after, closed := bytes.CutPrefix(rest, []byte("]")); closed {
		return append(list, element{line: Line{Bytes: bytes.TrimSpace(after), Problem: "is not JSON"}}), nil
	}
	apart := len(rest) == 0 || bytes.HasPrefix(rest, []byte(",")) == (len(list) > 0)
	rest = bytes.TrimLeft(rest, ", \t\r\n")
	var v json.RawMessage
	if err := json.NewDecoder(bytes.NewReader(rest)).Decode(&v); apart && (err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF)) {
		return list, &Loss{fmt.Sprintf("message %d", len(list)+1), "is cut off: the transcript ends in it; import again when it is whole"}
	}
	return append(list, element{where: "what follows it", line: Line{Bytes: rest, Problem: "is not JSON"}}), nil
}

// valueElements takes JSON values behind each other; nil when the first one is none.
func valueElements(doc []byte) (list []element) {
	d := json.NewDecoder(bytes.NewReader(doc))
	for {
		var v json.RawMessage
		from := d.InputOffset()
		err := d.Decode(&v)
		switch {
		case err == nil:
			list = append(list, element{where: fmt.Sprintf("value %d", len(list)+1), raw: v})
			continue
		case err != io.EOF && list != nil:
			list = append(list, element{line: Line{Bytes: bytes.TrimSpace(doc[from:]), Problem: "is not JSON"}})
		}
		return list
	}
}

func lineElements(data []byte) (list []element, err error) {
	lines := NewLines(bytes.NewReader(data))
	for {
		l, err := lines.nextOf(maxDocument) // a body may be larger than a record
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return list, err
		}
		if len(l.Bytes) == 0 {
			continue
		}
		e := element{where: l.Where(), line: l}
		if l.Problem == "" && json.Valid(l.Bytes) {
			e.raw = l.Bytes
		}
		list = append(list, e)
	}
}
