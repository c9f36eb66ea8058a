package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/inputs"
	"github.com/ctxfs/ctxfs/internal/redact"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

// StoreRedactor returns the redactor that the flags request. Without flags it returns the redactor
// of the daemon that serves the store at point, or nil if that redacts nothing. An allow list that
// the caller may not read counts as empty.
func StoreRedactor(f cli.RedactFlags, store, point string) (*redact.Redactor, error) {
	if !f.On {
		if d, ok := daemon.Running(store); ok {
			f.On, f.Allow = d.Redact, d.RedactAllow
		}
		f.On = f.On || redactsAt(point)
		if file, err := inputs.OpenFile(f.Allow); err != nil {
			f.Allow = ""
		} else {
			file.Close()
		}
	}
	return f.Redactor()
}

// redactsAt reports whether a mount shows no secrets.
func redactsAt(point string) bool {
	if point == "" {
		return false
	}
	status, err := os.ReadFile(filepath.Join(point, "status"))
	return err == nil && bytes.Contains(status, []byte("\nredact=on\n"))
}

// withoutSecrets writes what write does, without its secrets; a nil r redacts nothing.
func withoutSecrets(out io.Writer, r *redact.Redactor, write func(io.Writer) error) error {
	if r == nil {
		return write(out)
	}
	var b bytes.Buffer
	failed := write(&b)
	text, _ := r.File(b.Bytes(), nil)
	if _, err := out.Write(text); err != nil {
		return err
	}
	return failed
}

// RedactCommand returns a command without its secrets. It judges a word together with its
// neighbors, for example the value after --password. A nil r redacts nothing.
func RedactCommand(r *redact.Redactor, args []string) []string {
	if r == nil {
		return args
	}
	_, found := r.Text(strings.Join(args, " "))
	shown := make([]string, len(args))
	for i, arg := range args {
		for _, f := range found {
			if f.Secret != "" && strings.Contains(arg, f.Secret) {
				arg = strings.ReplaceAll(arg, f.Secret, "[redacted:"+f.Rule+"]")
			}
		}
		shown[i], _ = r.Text(arg)
	}
	return shown
}

// RedactValue returns the value of a variable without its secrets.
func RedactValue(r *redact.Redactor, name, value string) string {
	if r == nil {
		return value
	}
	raw, err := json.Marshal(map[string]string{name: value})
	if err != nil {
		return value
	}
	shown := map[string]string{}
	if raw, _ = r.JSON(raw); json.Unmarshal(raw, &shown) != nil || len(shown) != 1 {
		return value
	}
	for _, v := range shown {
		value = v
	}
	text, _ := r.Text(name + "=" + value)
	return strings.TrimPrefix(text, name+"=")
}

// redactRecipe takes the secrets out of the commands and variables of a recipe that is only shown.
func redactRecipe(r *redact.Redactor, shown *recipe.Recipe) {
	if r == nil || shown == nil {
		return
	}
	for i := range shown.Sources {
		for k := range shown.Sources[i].Stages {
			stage := &shown.Sources[i].Stages[k]
			stage.Command = RedactCommand(r, stage.Command)
		}
	}
	if s := shown.Summarizer; s != nil {
		s.Command = RedactCommand(r, s.Command)
	}
	for i := range shown.Env {
		shown.Env[i].Value = RedactValue(r, shown.Env[i].Name, shown.Env[i].Value)
	}
}
