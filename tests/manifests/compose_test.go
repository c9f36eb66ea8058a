package manifests

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"sigs.k8s.io/yaml"
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

func TestTheClusterOfCompose(t *testing.T) {
	text := read(t, "cluster-compose.yaml")
	p, err := load(t, text, types.Mapping{})
	if err != nil {
		t.Fatal(err)
	}
	top := cluster(t, text)
	if len(p.Services) != 6 || len(p.Volumes) != 3 {
		t.Fatalf("%d services, %d volumes", len(p.Services), len(p.Volumes))
	}
	for i := range 3 {
		name := fmt.Sprint("n", i+1)
		s, join := p.Services[name], p.Services[name+"-join"]
		if s.Image != clusterImage || join.Image != clusterImage || s.DependsOn[name+"-join"].Condition != types.ServiceConditionCompletedSuccessfully {
			t.Errorf("%s: %+v", name, s)
		}
		checkCommand(t, name, s.Command)
		checkCommand(t, join.Name, join.Command)
		if test := s.HealthCheck.Test; test[0] != "CMD" || test[1] != "/ctxfs" {
			t.Errorf("%s: %q", name, test)
		} else {
			checkCommand(t, name, test[2:])
		}
		dir := "--dir=" + s.Volumes[0].Target
		if len(s.Volumes) != 1 || len(join.Volumes) != 1 || s.Volumes[0].Source != name || join.Volumes[0].Source != name || join.Volumes[0].Target != s.Volumes[0].Target ||
			!slices.Contains(s.Command, dir) || !slices.Contains(join.Command, dir) || !slices.Contains(s.HealthCheck.Test, dir) {
			t.Errorf("%s has another directory than its command: %+v, %+v", name, s.Volumes, join.Volumes)
		}
		if len(join.Secrets) != 1 || join.Secrets[0].Source != name || !slices.Contains(join.Command, "--token-file=/run/secrets/"+name) ||
			filepath.Base(p.Secrets[name].File) != name+".token" {
			t.Errorf("%s: %+v", name, join.Secrets)
		}
		args := strings.Split(strings.Replace(strings.Join(join.Command, "\x00"), "/run/secrets/"+name, p.Secrets[name].File, 1), "\x00")
		var c struct {
			Listen, Routes string
			Peers          []string
		}
		if err := yaml.Unmarshal([]byte(joined(t, filepath.Join(top, "tokens"), args, name)), &c); err != nil {
			t.Fatal(err)
		}
		for k, listen := range []string{c.Listen, c.Routes} {
			if listen != "0.0.0.0:"+s.Expose[k] {
				t.Errorf("%s listens on %s and exposes %v", name, listen, s.Expose)
			}
		}
		for _, peer := range c.Peers {
			if host, port, _ := strings.Cut(peer, ":"); p.Services[host].Name != host || port != s.Expose[1] {
				t.Errorf("%s looks for %s", name, peer)
			}
		}
	}
}
