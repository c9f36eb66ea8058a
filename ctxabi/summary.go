package ctxabi

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// SummaryVersion describes one delivered version of a session's summary. Its text is the file
// context/summaries/<n>.md.
type SummaryVersion struct {
	N        int    `json:"n"`        // from 1, in the order of delivery
	Upto     int    `json:"upto"`     // the text covers the messages up to this one
	Messages int    `json:"messages"` // how many the session had at the delivery
	Events   int    `json:"events"`   // likewise
	Writer   string `json:"writer"`   // one of SummaryWriters
	Base     int    `json:"base"`     // the version that was in use at the delivery; 0: none was
	SHA256   string `json:"sha256"`   // of the text, in hex
}

// Writers of a summary.
const (
	WriterFile       = "file"       // a write to context/summary.md
	WriterEvent      = "event"      // an event of type summary
	WriterMCP        = "mcp"        // the MCP tool save_summary
	WriterSummarizer = "summarizer" // the command of a recipe
	WriterImport     = "import"     // a compaction in an imported transcript
)

// SummaryWriters are all writers of a summary.
var SummaryWriters = []string{WriterFile, WriterEvent, WriterMCP, WriterSummarizer, WriterImport}

// HookEnv is the environment variable that disables the hooks of ctxfs if its value is [HookOff].
// ctxfs sets it for summarizers, so that an agent program does not record its own run.
const (
	HookEnv = "CTXFS_HOOK"
	HookOff = "off"
)

// SummaryEventType is the type of an event that delivers a summary.
const SummaryEventType = "summary"

// Summary is a text as it is delivered.
type Summary struct {
	Text    string
	Upto    int    // valid if HasUpto is set
	HasUpto bool   // the delivery names its range
	Writer  string // "": the delivery does not say
	Retract bool   // no version before it stays in use; it has no text
	// Messages and Events are counts at the delivery of the version that an exported event repeats,
	// or at the delivery of the last version that an exported retraction retracted.
	Messages, Events int
	Why              string // why the delivery's own range is ignored; "": it is not
}

// SummaryRequest is the content of context/summary.request/request.json.
type SummaryRequest struct {
	State    string `json:"state"`               // RequestOpen or RequestNone
	Why      string `json:"why,omitempty"`       // reason, if no request is open
	N        int    `json:"n"`                   // number of the open request, from 1; 0 if none is open
	OpenedAt int    `json:"opened_at,omitempty"` // messages in the session when the request opened
	Upto     int    `json:"upto"`                // last message of the requested range
	Limit    int    `json:"limit_tokens"`        // prompts show a summary in full up to this size
	Base     int    `json:"base,omitempty"`      // version in use; 0 if there is none
	Path     string `json:"path"`                // absolute path of context/summary.md
}

// States of a [SummaryRequest].
const (
	RequestOpen = "open"
	RequestNone = "none"
)

// SummaryPath returns the path of version n of the summary, relative to the session.
func SummaryPath(n int) string { return path.Join(SummariesDir, strconv.Itoa(n)+".md") }

// ParseSummaryName returns the number of the version in a name of context/summaries. ok is false
// for any other name.
func ParseSummaryName(name string) (n int, ok bool) {
	digits, ok := strings.CutSuffix(name, ".md")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n > 0 && strconv.Itoa(n) == digits
}

// SummarySum returns the SHA-256 of a summary's text, in hex.
func SummarySum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// frontMatterFence begins and ends the front matter of summary.md.
const frontMatterFence = "---\n"

// ParseSummaryFile splits what a program writes to context/summary.md into its front matter and its
// text. The front matter is a YAML mapping of the keys upto and writer between two lines "---" at
// the beginning; a block with any other line belongs to the text. It returns ErrMalformed if upto
// is not a number or writer not one of [SummaryWriters].
func ParseSummaryFile(data []byte) (Summary, error) {
	plain := Summary{Text: string(data)}
	rest, fenced := strings.CutPrefix(plain.Text, frontMatterFence)
	if !fenced {
		return plain, nil
	}
	head, text, closed := strings.Cut(rest, "\n"+frontMatterFence)
	if !closed {
		return plain, nil
	}

	s := Summary{Text: text}
	for line := range strings.SplitSeq(head, "\n") {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch key {
		case "upto":
			n, err := strconv.Atoi(value)
			if err != nil || n < 0 {
				return Summary{}, badSummary("upto is %.40q; write the number of the last message that the summary covers", value)
			}
			s.Upto, s.HasUpto = n, true
		case "writer":
			if !slices.Contains(SummaryWriters, value) {
				return Summary{}, badSummary("writer is %.40q; it must be one of %s", value, strings.Join(SummaryWriters, " "))
			}
			s.Writer = value
		default:
			return plain, nil
		}
	}
	return s, nil
}

// FormatSummaryFile returns what a program writes to context/summary.md to deliver s.
func FormatSummaryFile(s Summary) []byte {
	var head strings.Builder
	if s.HasUpto {
		fmt.Fprintf(&head, "upto: %d\n", s.Upto)
	}
	if s.Writer != "" {
		fmt.Fprintf(&head, "writer: %s\n", s.Writer)
	}
	if head.Len() == 0 {
		return []byte(s.Text)
	}
	return []byte(frontMatterFence + head.String() + frontMatterFence + s.Text)
}

// DecodeSummaryEvent returns the summary or the retraction that an event delivers. It returns false
// and an empty why for other events. If the text of a summary event is unusable, it returns false
// and why contains the reason. A range that is not a number is ignored and reported in Summary.Why.
//
// An event with a field "import" delivers a summary only if its writer is [WriterImport]. Imports
// set both for compaction summaries only; the type of every other imported event contains the name
// of its format.
func DecodeSummaryEvent(line []byte) (s Summary, ok bool, why string) {
	if !bytes.Contains(line, []byte(`"`+SummaryEventType+`"`)) {
		return s, false, ""
	}
	var e struct {
		Type     string          `json:"type"`
		Text     json.RawMessage `json:"text"`
		Upto     json.RawMessage `json:"upto"`
		Writer   json.RawMessage `json:"writer"`
		Retracts bool            `json:"retracts"`
		Messages json.RawMessage `json:"messages"`
		Events   json.RawMessage `json:"events"`
		Import   json.RawMessage `json:"import"`
	}
	if json.Unmarshal(line, &e) != nil || e.Type != SummaryEventType || e.Text == nil && !e.Retracts ||
		e.Import != nil && string(e.Writer) != `"`+WriterImport+`"` {
		return s, false, ""
	}
	if e.Writer != nil {
		json.Unmarshal(e.Writer, &s.Writer)
		if !slices.Contains(SummaryWriters, s.Writer) {
			s.Writer = ""
		}
		json.Unmarshal(e.Messages, &s.Messages)
		json.Unmarshal(e.Events, &s.Events)
	}
	if e.Retracts {
		s.Retract = true
		return s, true, ""
	}
	if json.Unmarshal(e.Text, &s.Text) != nil || e.Text[0] != '"' {
		return s, false, "its text is not a string"
	}
	if len(s.Text) > MaxControl {
		return s, false, fmt.Sprintf("its text has %d bytes, the limit is %d", len(s.Text), MaxControl)
	}
	if !utf8.ValidString(s.Text) || strings.ContainsRune(s.Text, 0) {
		return s, false, "its text is not text that a prompt may show"
	}

	if e.Upto != nil {
		s.HasUpto = json.Unmarshal(e.Upto, &s.Upto) == nil && s.Upto >= 0 && e.Upto[0] != 'n'
		if !s.HasUpto {
			s.Upto, s.Why = 0, fmt.Sprintf("its upto is %.40s, which is not the number of a message", e.Upto)
		}
	}
	return s, true, ""
}

// EncodeSummaryEvent returns the event by which an export carries s, without a newline.
func EncodeSummaryEvent(s Summary) []byte {
	e := struct {
		Type     string  `json:"type"`
		Retracts bool    `json:"retracts,omitempty"`
		Upto     *int    `json:"upto,omitempty"`
		Text     *string `json:"text,omitempty"`
		Writer   string  `json:"writer"`
		Messages int     `json:"messages"`
		Events   int     `json:"events"`
	}{Type: SummaryEventType, Retracts: s.Retract, Writer: s.Writer, Messages: s.Messages, Events: s.Events}
	if !s.Retract {
		e.Upto, e.Text = &s.Upto, &s.Text
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(&e) // strings and numbers
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func badSummary(format string, args ...any) error {
	return E("set", SummaryFile, ErrMalformed, format, args...)
}
