package formats_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
	"github.com/ctxfs/ctxfs/agents/adapter/formats"
)

// contentKeys are the keys of texts in a transcript; under the last four every string is a text.
var contentKeys = strings.Fields("text content thinking reasoning message parts prompt refusal summary observation thought errorText " +
	"input args arguments output")

// besideKeys are the keys of what is no part of a conversation: definitions, settings, and how a program shows what it
// did.
var besideKeys = strings.Fields("type kind role id name model status tools functions toolConfig metadata usage resultDisplay settings import")

// unchecked are the formats that keep records as they are.
var unchecked = []string{"native"}

// textAt is a text of a transcript and the way to it.
type textAt struct {
	text string
	path []any // keys and indexes
}

// textsOf returns the texts in a value, those of more than three bytes.
func textsOf(v any, path []any, isText, isData bool) (all []textAt) {
	switch v := v.(type) {
	case string:
		if (isText || isData) && len(v) > 3 && strings.ContainsAny(strings.ToLower(v), "abcdefghijklmnopqrstuvwxyz") {
			all = append(all, textAt{v, slices.Clone(path)})
		}
	case []any:
		for i, item := range v {
			all = append(all, textsOf(item, append(path, i), isText, isData)...)
		}
	case map[string]any:
		for key, item := range v {
			if at := slices.Index(contentKeys, key); !slices.Contains(besideKeys, key) {
				all = append(all, textsOf(item, append(path, key), at >= 0, isData || at >= len(contentKeys)-4)...)
			}
		}
	}
	return all
}

// valuesOf are the JSON values of a transcript, one behind the other.
func valuesOf(data []byte) (all []any) {
	d := json.NewDecoder(strings.NewReader(string(adapter.Decode(data))))
	for {
		var v any
		if d.Decode(&v) != nil {
			return all
		}
		all = append(all, v)
	}
}

// saidIn are all the strings that the messages of a session have, and its summaries, as one text.
// With notes, it also has those of the events that a format names as no part of the conversation.
func saidIn(s *adaptertest.Session, f *adapter.Format, notes bool) string {
	var b strings.Builder
	var add func(v any)
	add = func(v any) {
		switch v := v.(type) {
		case string:
			b.WriteString(v + "\x00")
			var inner any
			if json.Unmarshal([]byte(v), &inner) == nil {
				add(inner)
			}
		case []any:
			for _, item := range v {
				add(item)
			}
		case map[string]any:
			for _, item := range v {
				add(item)
			}
		}
	}
	for _, r := range s.Records {
		var o map[string]any
		kind := r.EventType()
		stamp, _ := r.Stamp()
		isNote := notes && (slices.Contains(f.Notes, strings.TrimPrefix(kind, f.Name+"/")) ||
			f.IsNote != nil && f.IsNote(gjson.ParseBytes(stamp.Rest)))
		if json.Unmarshal(r.Line, &o) != nil || r.Event && strings.Contains(kind, "/") && !isNote && o["abandoned"] != true {
			continue
		}
		if !r.Event {
			delete(o, adapter.StampKey)
		}
		add(o)
	}
	return b.String()
}

// transcripts are the transcripts of the repository that a format reads, without hostile ones.
func transcripts(t *testing.T, f *adapter.Format) (files []string) {
	for _, glob := range []string{filepath.Join("testdata", f.Name, "*.*"),
		filepath.Join("../../../examples/transcripts", f.Name+".*")} {
		found, err := filepath.Glob(glob)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			if !strings.HasPrefix(filepath.Base(file), "hostile-") {
				files = append(files, file)
			}
		}
	}
	return files
}

// Every text of a transcript is in a message or in a record that is known to be none; what else there is would be a
// loss, and samples have none.
func TestNoTextOfASampleIsLost(t *testing.T) {
	for _, f := range formats.Formats() {
		for _, file := range transcripts(t, f) {
			data, err := os.ReadFile(file)
			if err != nil || slices.Contains(unchecked, f.Name) {
				continue
			}
			var s adaptertest.Session
			_, lost := s.Import(t, f, filepath.Base(file), data)
			said := saidIn(&s, f, true)
			for _, v := range valuesOf(data) {
				for _, at := range textsOf(v, nil, false, false) {
					if !strings.Contains(said, at.text) && !isNote(f, at.path) && len(lost) == 0 {
						t.Errorf("%s: %v: no message says %.80q, and no loss is reported", file, at.path, at.text)
					}
				}
			}
		}
	}
}

// isNote reports whether a path leads to a text that a format names as no part of the conversation.
func isNote(f *adapter.Format, path []any) bool {
	keys := ""
	for _, step := range path {
		if k, ok := step.(string); ok {
			keys += "." + k
		}
	}
	return slices.ContainsFunc(f.Notes, func(note string) bool {
		return note != "" && note[0] == '.' && strings.Contains(keys+".", note+".")
	})
}

// A text that comes in another form, under another key, in a part of another type or from another role is in a message,
// or a loss counts it.
func TestNoTextIsLostSilently(t *testing.T) {
	for _, f := range formats.Formats() {
		if slices.Contains(unchecked, f.Name) || f.Name == "aider" { // which is no JSON
			continue
		}
		type sample struct {
			file string
			data []byte
			at   []textAt
		}
		var samples []sample
		for _, file := range transcripts(t, f) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var s adaptertest.Session
			s.Import(t, f, filepath.Base(file), data)
			said := saidIn(&s, f, false)
			one := sample{file: file, data: data}
			for _, v := range valuesOf(data) {
				for _, at := range textsOf(v, nil, false, false) {
					if strings.Contains(said, at.text) && !isNote(f, at.path) {
						one.at = append(one.at, at)
					}
				}
			}
			slices.SortFunc(one.at, func(a, b textAt) int {
				return strings.Compare(fmt.Sprint(a.path),
					fmt.Sprint(b.path))
			})
			if len(one.at) > 0 {
				samples = append(samples, one)
			}
		}
		t.Run(f.Name, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				one := rapid.SampledFrom(samples).Draw(r, "sample")
				i := rapid.IntRange(0, len(one.at)-1).Draw(r, "text")
				values := valuesOf(one.data)
				keys := slices.DeleteFunc(slices.Clone(contentKeys[:10]),
					func(key string) bool { return slices.Contains(f.Notes, "."+key) })
				for n := range values {
					if values[n] = strangely(r, values[n], one.at[i].path, keys); rapid.Bool().Draw(r, "enough") {
						break
					}
				}
				var data []byte
				is := false // a text, there
				for _, v := range values {
					line, _ := json.Marshal(v)
					data = append(append(data, line...), '\n')
					is = is ||
						slices.ContainsFunc(textsOf(v, nil, false, false),
							func(at textAt) bool { return at.text == mark })
				}
				if !is {
					return
				}
				var s adaptertest.Session
				_, lost := s.Import(t, f, filepath.Base(one.file), data)
				if !strings.Contains(saidIn(&s, f, true), mark) && len(lost) == 0 {
					r.Fatalf("%s: %v: no message says %q, and no loss is reported:\n%s", one.file, one.at[i].path, mark,
						data)
				}
			})
		})
	}
}

// mark is the text that is looked for.
const mark = "never push to main"

// strangely returns v with mark at path, in a form that no format has, and perhaps under another one of the keys.
func strangely(r *rapid.T, v any, path []any, keys []string) any {
	if len(path) == 0 {
		switch rapid.IntRange(0, 5).Draw(r, "form") {
		case 0:
			return map[string]any{"text": mark}
		case 1:
			return []any{map[string]any{"type": "hologram", "text": mark}}
		case 2:
			return []any{[]any{map[string]any{"type": "text", "text": mark}}}
		case 3:
			return map[string]any{"type": "hologram", "content": map[string]any{"text": mark}}
		}
		return mark
	}
	switch step := path[0].(type) {
	case int:
		if list, ok := v.([]any); ok && step < len(list) {
			list[step] = strangely(r, list[step], path[1:], keys)
		}
	case string:
		o, ok := v.(map[string]any)
		if !ok || o[step] == nil {
			return v
		}
		inner := strangely(r, o[step], path[1:], keys)
		o[step] = inner
		switch rapid.IntRange(0, 9).Draw(r, "place") {
		case 0:
			delete(o, step)
			o[rapid.SampledFrom(keys).Draw(r, "key")] = inner
		case 1:
			for _, key := range []string{"type", "kind", "role", "source"} {
				if _, ok := o[key].(string); ok {
					o[key] = "hologram"
					break
				}
			}
		}
	}
	return v
}
