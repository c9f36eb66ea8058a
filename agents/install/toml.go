package install

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"reflect"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// tomlServer is the entry of the MCP server in the TOML settings of Codex: a table between two marks. The program writes its own tables
// anywhere, also between the marks, so the table is what counts.
type tomlServer struct{ command []string }

const (
	markBegin = "# >>> ctxfs: 'ctxfs install codex --remove' takes this out"
	markEnd   = "# <<< ctxfs"
	tomlTable = "mcp_servers"
)

// readTOML reads settings.
func readTOML(text []byte) (v map[string]any, err error) {
	text = bytes.TrimPrefix(text, byteOrderMark)
	err = toml.Unmarshal(text, &v)
	var bad *toml.DecodeError
	if errors.As(err, &bad) {
		row, _ := bad.Position()
		return nil, fmt.Errorf("line %d: %s", row, strings.TrimPrefix(err.Error(), "toml: "))
	}
	return v, err
}

// tomlCommand returns the command line of the server in settings; nil where there is none. It returns an error if it is none of ctxfs.
func tomlCommand(v map[string]any) (line []string, err error) {
	servers, _ := v[tomlTable].(map[string]any)
	if _, there := servers[ServerName]; !there {
		return nil, nil
	}
	entry, _ := servers[ServerName].(map[string]any)
	command, _ := entry["command"].(string)
	line = append(line, command)
	args, _ := entry["args"].([]any)
	for _, a := range args {
		line = append(line, fmt.Sprint(a))
	}
	if len(line) < 2 || path.Base(command) != "ctxfs" || line[1] != "mcp" {
		return nil, fmt.Errorf("%s has an entry %q that does not start ctxfs mcp; rename or remove it first", tomlTable, ServerName)
	}
	return line, nil
}

func (s tomlServer) put(text []byte) ([]byte, error) {
	was, err := readTOML(text)
	if err != nil {
		return nil, err
	}
	line, err := tomlCommand(was)
	if err != nil || reflect.DeepEqual(line, s.command) {
		return text, err
	}
	kept := text
	if line != nil {
		if kept, err = s.take(text); err != nil {
			return nil, err
		}
	}
	nl := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		nl = "\r\n"
	}
	var b strings.Builder
	b.Write(kept)
	if n := len(kept); n > 0 && kept[n-1] != '\n' {
		b.WriteString(nl)
	}
	var args []string
	for _, a := range s.command[1:] {
		args = append(args, tomlString(a))
	}
	for _, l := range []string{
		markBegin, "[" + tomlTable + "." + ServerName + "]", "command = " + tomlString(s.command[0]), "args = [" + strings.Join(args, ", ") + "]", markEnd,
	} {
		b.WriteString(l + nl)
	}
	edited := []byte(b.String())
	now, err := readTOML(edited)
	if err != nil {
		return nil, fmt.Errorf("%s is written in a form that takes no table; add %s to it yourself (%w)", tomlTable, ServerName, err)
	}
	if got, _ := tomlCommand(now); !reflect.DeepEqual(got, s.command) || !reflect.DeepEqual(others(was), others(now)) {
		return nil, fmt.Errorf("an entry cannot be added without a change of others; add [%s.%s] yourself", tomlTable, ServerName)
	}
	return edited, nil
}

func (s tomlServer) take(text []byte) ([]byte, error) {
	was, err := readTOML(text)
	if err != nil {
		return nil, err
	}
	if line, err := tomlCommand(was); err != nil || line == nil {
		return text, nil
	}
	for skip := range bytes.Count(text, []byte(ServerName)) {
		edited := cut(text, skip)
		now, err := readTOML(edited)
		if line, _ := tomlCommand(now); err == nil && line == nil && reflect.DeepEqual(others(was), others(now)) {
			return edited, nil
		}
	}
	return nil, fmt.Errorf("the entry %s.%s cannot be taken out without a change of others; remove it yourself", tomlTable, ServerName)
}

// cut returns settings without the marks and the tables of the server, but for the first lines that look like one of its tables: they may be
// in a text.
func cut(text []byte, skip int) []byte {
	var kept []byte
	ours := false
	for line := range bytes.Lines(text) {
		bare := strings.TrimSpace(string(line))
		switch {
		case bare == markBegin || bare == markEnd:
			ours = false
			continue
		case strings.HasPrefix(bare, "["):
			table, _, _ := strings.Cut(strings.NewReplacer(`"`, "", "'", "", " ", "", "\t", "").Replace(bare[1:]), "]")
			ours = table == tomlTable+"."+ServerName || strings.HasPrefix(table, tomlTable+"."+ServerName+".")
			if ours && skip > 0 {
				ours, skip = false, skip-1
			}
		case strings.HasPrefix(bare, "#"): // mostly of what follows
			ours = false
		}
		if !ours {
			kept = append(kept, line...)
		}
	}
	return kept
}

func (s tomlServer) same(a, b []byte) bool {
	x, err := readTOML(a)
	y, err2 := readTOML(b)
	return err == nil && err2 == nil && (len(x) == 0 && len(y) == 0 || reflect.DeepEqual(x, y))
}

func (s tomlServer) own(text []byte) ([]entry, error) {
	v, err := readTOML(text)
	if err != nil {
		return nil, err
	}
	line, err := tomlCommand(v)
	if err != nil || line == nil {
		return nil, nil
	}
	return []entry{entryOf(tomlTable+"."+ServerName, line)}, nil
}

// others returns settings without the server.
func others(v map[string]any) map[string]any {
	servers, ok := v[tomlTable].(map[string]any)
	if !ok {
		return v
	}
	delete(servers, ServerName)
	if len(servers) == 0 {
		delete(v, tomlTable)
	}
	return v
}

// tomlString writes a string of TOML.
func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			b.WriteString(`\u` + strings.ToUpper(fmt.Sprintf("%04s", strconv.FormatInt(int64(r), 16))))
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}
