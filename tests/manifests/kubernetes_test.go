package manifests

import (
	"errors"
	"slices"
	"testing"

	core "k8s.io/api/core/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// strict reads an object as the servers of Kubernetes do that are asked to be strict: fields have the names of
// its type, in the same case, and each is there once.
func strict(text string, into any) error {
	data, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		return err
	}
	unknown, err := json.UnmarshalStrict(data, into)
	return errors.Join(append(unknown, err)...)
}

// The decoder itself must be able to fail.
func TestUnknownFieldsAreFound(t *testing.T) {
	for text, ok := range map[string]bool{
		"kind: Service\nspec: {clusterIP: None}\n": true, "kind: Service\nspec: {clusterIp: None}\n": false,
		"kind: Service\nspec: {clusterIPP: None}\n": false, "kind: Service\nkind: Service\n": false, "spec: {clusterIP: [None]}\n": false,
	} {
		var s core.Service
		if err := strict(text, &s); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestThePod(t *testing.T) {
	var p core.Pod
	if err := strict(read(t, "pod.yaml"), &p); err != nil {
		t.Fatal(err)
	}
	checkPod(t, "pod.yaml", p.Spec, "ctxfs:latest")
}

// checkPod looks at images, commands and volumes of a pod.
func checkPod(t *testing.T, where string, pod core.PodSpec, image string) {
	t.Helper()
	var volumes []string
	used := map[string]bool{}
	for _, v := range pod.Volumes {
		volumes = append(volumes, v.Name)
	}
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		name := where + " " + c.Name
		for _, m := range c.VolumeMounts {
			if used[m.Name] = true; !slices.Contains(volumes, m.Name) {
				t.Errorf("%s: there is no volume %s", name, m.Name)
			}
		}
		if c.Image != image {
			if c.Name != "agent" {
				t.Errorf("%s: image %s", name, c.Image)
			}
			continue
		}
		commands := [][]string{c.Command}
		for _, p := range []*core.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
			if p != nil {
				commands = append(commands, p.Exec.Command)
			}
		}
		for _, args := range commands {
			if len(args) == 0 { // that of the image
				continue
			}
			if args[0] != "/ctxfs" {
				t.Errorf("%s: the image has no %s", name, args[0])
			}
			checkCommand(t, name, args[1:])
		}
	}
	for _, v := range volumes {
		if !used[v] {
			t.Errorf("%s: nobody uses the volume %s", where, v)
		}
	}
}
