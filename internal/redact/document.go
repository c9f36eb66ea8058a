package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/internal/lazy"
)

// maxInner is how deep JSON in strings of JSON is looked into as such; deeper it is text.
const maxInner = 6

// JSON returns one JSON value, a record say, with a placeholder in the place of each secret in its strings and names. Each string is
// read as the text that it stands for, and judged together with the name that it stands under. All other bytes
// stay. What is not JSON is redacted as a text.
func (r *Redactor) JSON(raw []byte) ([]byte, []Found) { return r.document(raw, nil, 0) }

// File returns a file without its secrets, and without the values that are known to be some: JSON, lines of JSON, or a text.
func (r *Redactor) File(data []byte, known Known) ([]byte, []Found) {
	first, _, _ := bytes.Cut(data, []byte("\n"))
	if first = bytes.TrimSpace(first); json.Valid(data) || len(first) == 0 || first[0] != '{' || !json.Valid(first) {
		return r.document(data, known, 0)
	}
	var out []byte
	var all []Found
	for line := range bytes.Lines(data) {
		redacted, found := r.document(line, known, 0)
		out, all = append(out, redacted...), append(all, found...)
	}
	if len(all) == 0 {
		return data, nil
	}
	return out, all
}

func (r *Redactor) document(raw []byte, known Known, depth int) ([]byte, []Found) {
	if !json.Valid(raw) {
		text, found := r.replace(string(raw), known)
		if len(found) == 0 {
			return raw, nil
		}
		return []byte(text), found
	}
	d := document{r: r, in: raw, known: known, depth: depth}
	d.value("", "")
	if len(d.found) == 0 {
		return raw, nil
	}
	return d.edited(), d.found
}

// document is one value on its way through. Its bytes are valid.
type document struct {
	r     *Redactor
	in    []byte
	known Known
	depth int // of values in strings

	at    int // in in
	edits []edit
	found []Found
}

// edit puts a text in the place of the bytes from..to.
type edit struct {
	from, to int
	text     []byte
}

// edited is the value with its edits, of which no two overlap.
func (d *document) edited() []byte {
	slices.SortFunc(d.edits, func(a, b edit) int { return a.from - b.from })
	var out []byte
	copied := 0
	for _, e := range d.edits {
		out = append(append(out, d.in[copied:e.from]...), e.text...)
		copied = e.to
	}
	return append(out, d.in[copied:]...)
}

func (d *document) blanks() {
	for d.at < len(d.in) && strings.IndexByte(" \t\r\n", d.in[d.at]) >= 0 {
		d.at++
	}
}

// value goes through one value, which stands under a name beside others.
func (d *document) value(name, label string) {
	d.blanks()
	switch d.in[d.at] {
	case '{':
		d.object()
	case '[':
		d.at++
		for d.blanks(); d.in[d.at] != ']'; d.blanks() {
			if d.in[d.at] == ',' {
				d.at++
			}
			d.value(name, "")
		}
		d.at++
	case '"':
		d.string(name, label)
	default:
		for d.at < len(d.in) && strings.IndexByte(",]} \t\r\n", d.in[d.at]) < 0 {
			d.at++
		}
	}
}

// object goes through the members of an object. One that says its name in a member of its own ({"name":"DB_PASSWORD","value":"…"})
// gives it to the member that holds the value. The signature of a thought that is not what was signed any more goes: a provider
// refuses such a thought, while one without a signature is known to be none of its own.
func (d *document) object() {
	label, data := d.labels()
	d.at++
	var signature edit
	changed := false
	for d.blanks(); d.in[d.at] != '}'; d.blanks() {
		if d.in[d.at] == ',' {
			d.at++
			d.blanks()
		}
		from := d.at
		d.string("", "")
		var name string
		json.Unmarshal(d.in[from:d.at], &name)
		d.blanks()
		d.at++ // the colon
		d.blanks()
		if opaque(name, data) && d.in[d.at] == '"' {
			from := d.at
			d.literal()
			if name == "signature" {
				signature = edit{from, d.at, []byte(`""`)}
			}
			continue
		}
		of := ""
		if strings.EqualFold(name, "value") {
			of = label
		}
		n := len(d.found)
		d.value(name, of)
		changed = changed || name == "thinking" && len(d.found) > n
	}
	d.at++
	if changed && signature.to > 0 {
		d.edits = append(d.edits, signature)
	}
}

// labels looks ahead at the members of an object: its name, and whether its data is that of a file.
func (d *document) labels() (label string, data bool) {
	// An object that holds much has its name early; what does not is looked at no farther.
	head := d.in[d.at:min(len(d.in), d.at+512)]
	if m := labelled().FindSubmatch(head); m != nil {
		label = string(m[1])
	}
	return label, mediaType().Match(head)
}

var (
	labelled  = lazy.Regexp(`^\{[^{}]*?"(?i:name|key|variable|env)"\s*:\s*"([\w.-]{1,128})"`)
	mediaType = lazy.Regexp(`^\{[^{}]*?"(?:media_type|mime_type|mimeType|format|type)"\s*:\s*"(?:image|audio|video|application|base64|wav|mp3|input_audio|redacted_thinking)`)
)

// opaque reports whether a member holds bytes which a program made and which must not change: data of a file, the signature of a thought.
func opaque(name string, data bool) bool {
	switch name {
	case "signature", "encrypted_content", "thoughtSignature", "thought_signature":
		return true
	case "data", "file_data":
		return data
	}
	return false
}

// literal passes over a string and gives its bytes, quotes included.
func (d *document) literal() []byte {
	from := d.at
	d.at++
	for {
		n := bytes.IndexAny(d.in[d.at:], `"\`)
		d.at += n + 1
		if d.in[d.at-1] == '"' {
			return d.in[from:d.at]
		}
		d.at++
	}
}

// string redacts one string.
func (d *document) string(name, label string) {
	from := d.at
	lit := d.literal()
	var text string
	if bytes.IndexByte(lit, '\\') < 0 {
		text = string(lit[1 : len(lit)-1])
	} else if json.Unmarshal(lit, &text) != nil {
		return
	}
	redacted, found := d.text(text, name, label)
	if len(found) == 0 {
		return
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(redacted) // a string always can be
	d.edits = append(d.edits, edit{from, d.at, bytes.TrimSuffix(b.Bytes(), []byte("\n"))})
	d.found = append(d.found, found...)
}

// text redacts what a string says.
func (d *document) text(text, name, label string) (string, []Found) {
	if len(text) < 4 || isDataURL(text) {
		return text, nil
	}
	if d.depth < maxInner && (text[0] == '{' || text[0] == '[') && json.Valid([]byte(text)) {
		out, found := d.r.document([]byte(text), d.known, d.depth+1)
		return string(out), found
	}
	out, found := d.r.replace(text, d.known)
	for _, n := range []string{name, label} {
		if rule := d.r.named(n, text); rule != "" && !placeholders().MatchString(out) {
			return placeholder(rule), []Found{{rule, text, isCarried(text)}}
		}
	}
	return out, found
}

var dataURL = lazy.Regexp(`^data:[\w.+-]*/[\w.+-]*(?:;[\w=.-]+)*;base64,`)

func isDataURL(s string) bool {
	return strings.HasPrefix(s, "data:") && dataURL().MatchString(s[:min(len(s), 256)])
}

var (
	passwordName = lazy.Regexp(`(?i)^(?:[\w.-]*[_.-])?\w*` + keyNames + `\d{0,2}$|^(?:[\w.-]*[_.-])?(?:pass)$`)
	dockerName   = lazy.Regexp(`^auth$`)
	secretName   = lazy.Regexp(`(?i)^(?:[\w.-]*[_.-])?\w*(?:secret|token|api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|authtoken|_auth|credential)$`)
)

// named returns by which rule a string is a secret because of the name it stands under; "" where it is none.
func (r *Redactor) named(name, text string) string {
	if name == "" || len(name) > 128 || len(text) > 4096 || r.allow.allows(text) || placeholders().MatchString(text) {
		return ""
	}
	switch {
	case passwordName().MatchString(name) && !r.allow.rules["password"]:
		if isSecret(text) && !prose(text) && !code().MatchString(text) {
			return "password"
		}
	case dockerName().MatchString(name) && !r.allow.rules["docker-auth"]:
		if b, err := base64.StdEncoding.DecodeString(text); err == nil && bytes.IndexByte(b, ':') > 0 && !strings.Contains(text, " ") {
			return "docker-auth"
		}
	case secretName().MatchString(name) && !r.allow.rules["secret-field"]:
		if !strings.ContainsAny(text, " \n") && len(text) >= 12 && acceptField(text, name) {
			return "secret-field"
		}
	}
	return ""
}
