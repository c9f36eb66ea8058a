package manifests

import (
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

// load reads a compose file as compose does, which knows all fields in it.
func load(t *testing.T, text string, env types.Mapping) (*types.Project, error) {
	t.Helper()
	return loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir: t.TempDir(), Environment: env,
		ConfigFiles: []types.ConfigFile{{Filename: "compose.yaml", Content: []byte(text)}},
	}, func(o *loader.Options) { o.SetProjectName("test", true) })
}

// The loader itself must be able to fail.
func TestUnknownFieldsOfComposeAreFound(t *testing.T) {
	if _, err := load(t, "services: {a: {image: x, imagee: y}}\n", nil); err == nil {
		t.Error("a field that compose does not know is accepted")
	}
}

func TestTheMountOfCompose(t *testing.T) {
	p, err := load(t, read(t, "compose.yaml"), types.Mapping{})
	if err != nil {
		t.Fatal(err)
	}
	if s := p.Services["ctxfs"]; s.Image != "ctxfs" || p.Services["agent"].DependsOn["ctxfs"].Condition != types.ServiceConditionHealthy {
		t.Errorf("%+v", s)
	}
}
