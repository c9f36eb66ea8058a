package section

import (
	"strings"

	"github.com/tidwall/gjson"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/coder"
	"github.com/ctxfs/ctxfs/pack/prefix"
)

// Bounds of conclusions.
const (
	pointBytes = 320 // of one passage
	maxPoints  = 6   // of one message
)

// Conclusion holds the passages of one message of the assistant with a decision, cause, result, or
// number.
type Conclusion struct {
	At     int
	Asked  int // the message of the user that the assistant works on; 0: unknown
	Points []derived.Point
}

// Best returns the index of the best passage.
func (c *Conclusion) Best() (best int) {
	for i, p := range c.Points {
		if p.Worth > c.Points[best].Worth {
			best = i
		}
	}
	return best
}

// conclusions is the section of the assistant's conclusions.
type conclusions struct {
	list  []Conclusion // clones share the array: equal records append equal conclusions
	asked int          // the last message of the user
}

func newConclusions() prefix.Section { return new(conclusions) }

// Apply implements [prefix.Section].
func (s *conclusions) Apply(r *prefix.Record) {
	switch {
	case r.User:
		s.asked = r.At
	case r.Role == ctxabi.Assistant && !r.Excerpt.Result && r.Excerpt.Text != "":
		if points := derived.Points(passagesOf(r.Excerpt.Text), pointBytes, maxPoints); len(points) > 0 {
			s.list = append(s.list, Conclusion{At: r.At, Asked: s.asked, Points: points})
		}
	}
}

// Encode implements [prefix.Section].
func (s *conclusions) Encode(c *coder.Coder) {
	coder.Number(c, &s.asked)
	coder.List(c, &s.list, func(one *Conclusion) {
		coder.Number(c, &one.At, &one.Asked)
		coder.List(c, &one.Points, func(p *derived.Point) {
			coder.Text(c, &p.Text)
			coder.Number(c, &p.Worth, &p.N)
		})
	})
}

// Clone implements [prefix.Section].
func (s *conclusions) Clone() prefix.Section { copied := *s; return &copied }

// passagesOf returns the texts of a message that is a JSON object, with a heading between them and
// the name of the field if they are no sentences, or the message itself.
func passagesOf(message string) string {
	v := gjson.Parse(message)
	if !v.IsObject() || !gjson.Valid(message) {
		return message
	}
	var b strings.Builder
	EachText(v, "", func(key, value string) {
		if !strings.ContainsAny(value, ".!?:") {
			value = key + ": " + value
		}
		if strings.Count(value, " ") > 1 {
			b.WriteString(value + "\n\n# …\n\n")
		}
	})
	return b.String()
}

// EachText calls do with each string, number, and other scalar in a JSON value and the field that
// contains it, in order.
func EachText(v gjson.Result, key string, do func(key, value string)) {
	switch {
	case v.IsObject():
		v.ForEach(func(k, v gjson.Result) bool { EachText(v, k.Str, do); return true })
	case v.IsArray():
		v.ForEach(func(_, v gjson.Result) bool { EachText(v, key, do); return true })
	case v.Type == gjson.String:
		do(key, v.Str)
	default:
		do(key, v.Raw)
	}
}
