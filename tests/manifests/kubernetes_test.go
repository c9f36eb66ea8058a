package manifests

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// objects is what the manifest of a cluster has.
type objects struct {
	service core.Service
	budget  policy.PodDisruptionBudget
	servers apps.StatefulSet
	mounts  apps.DaemonSet
}

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

// decode reads a manifest, each object into its type, which knows all fields in it.
func decode(t *testing.T, text string) (o objects) {
	t.Helper()
	into := map[string]any{
		"v1 Service": &o.service, "policy/v1 PodDisruptionBudget": &o.budget, "apps/v1 StatefulSet": &o.servers, "apps/v1 DaemonSet": &o.mounts,
	}
	for _, part := range strings.Split(text, "\n---\n") {
		var kind struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
		}
		if err := yaml.Unmarshal([]byte(part), &kind); err != nil {
			t.Fatal(err)
		}
		name := kind.APIVersion + " " + kind.Kind
		if into[name] == nil {
			t.Fatalf("%q is unknown, or there twice", name)
		}
		if err := strict(part, into[name]); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		delete(into, name)
	}
	if len(into) > 0 {
		t.Errorf("these are missing: %v", into)
	}
	return o
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
	checkPod(t, "pod.yaml", p.Spec, nil, "ctxfs:latest")
}

func TestTheClusterOfKubernetes(t *testing.T) {
	text := read(t, "cluster-kubernetes.yaml")
	o := decode(t, text)
	var claims []string
	for _, c := range o.servers.Spec.VolumeClaimTemplates {
		claims = append(claims, c.Name)
	}
	checkPod(t, "servers", o.servers.Spec.Template.Spec, claims, clusterImage+":latest")
	checkPod(t, "mounts", o.mounts.Spec.Template.Spec, nil, clusterImage+":latest")

	labels := o.servers.Spec.Template.Labels
	for what, selector := range map[string]map[string]string{
		"service": o.service.Spec.Selector, "budget": o.budget.Spec.Selector.MatchLabels, "servers": o.servers.Spec.Selector.MatchLabels,
		"affinity": o.servers.Spec.Template.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchLabels,
	} {
		if len(selector) == 0 || fmt.Sprint(selector) != fmt.Sprint(labels) {
			t.Errorf("%s selects %v, and the servers are %v", what, selector, labels)
		}
	}
	if fmt.Sprint(o.mounts.Spec.Selector.MatchLabels) != fmt.Sprint(o.mounts.Spec.Template.Labels) {
		t.Error("the mounts do not select their pods")
	}
	if *o.servers.Spec.Replicas != 3 || o.servers.Spec.ServiceName != o.service.Name || o.service.Spec.ClusterIP != core.ClusterIPNone ||
		!o.service.Spec.PublishNotReadyAddresses || o.budget.Spec.MaxUnavailable.IntValue() != 1 || o.servers.Spec.PodManagementPolicy != apps.ParallelPodManagement {
		t.Error("three servers find each other, and one may be away")
	}
	secret := regexp.MustCompile(`kubectl create secret generic (\S+) --from-file=(\S+)`).FindStringSubmatch(text)
	for what, volumes := range map[string][]core.Volume{"servers": o.servers.Spec.Template.Spec.Volumes, "mounts": o.mounts.Spec.Template.Spec.Volumes} {
		if !slices.ContainsFunc(volumes, func(v core.Volume) bool { return v.Secret != nil && v.Secret.SecretName == secret[1] }) {
			t.Errorf("%s do not have the secret %s", what, secret[1])
		}
	}
	runServers(t, o, cluster(t, text)+"/"+secret[2])
}

// runServers joins each server, and a node, with the commands of the pods, and compares what the servers listen
// on with what the pods say.
func runServers(t *testing.T, o objects, tokens string) {
	t.Helper()
	pod := o.servers.Spec.Template.Spec
	ports := map[string]int32{}
	for _, p := range pod.Containers[0].Ports {
		ports[p.Name] = p.ContainerPort
	}
	for _, p := range o.service.Spec.Ports {
		if ports[p.TargetPort.StrVal] != p.Port {
			t.Errorf("port %s of the service is %d, and of the server %d", p.Name, p.Port, ports[p.TargetPort.StrVal])
		}
	}
	for i := range int(*o.servers.Spec.Replicas) {
		name := fmt.Sprint(o.servers.Name, "-", i)
		settings := joined(t, tokens, commandOf(t, pod.InitContainers[0], "POD", "metadata.name", name), name)
		var c struct {
			Listen, Routes string
			Peers          []string
		}
		if err := yaml.Unmarshal([]byte(settings), &c); err != nil {
			t.Fatal(err)
		}
		if c.Listen != net.JoinHostPort("0.0.0.0", fmt.Sprint(ports["hosts"])) || c.Routes != net.JoinHostPort("0.0.0.0", fmt.Sprint(ports["servers"])) {
			t.Errorf("%s listens on %s and %s, and its ports are %v", name, c.Listen, c.Routes, ports)
		}
		var want []string
		for k := range int(*o.servers.Spec.Replicas) {
			if k != i {
				want = append(want, fmt.Sprintf("%s-%d.%s:%d", o.servers.Name, k, o.service.Name, ports["servers"]))
			}
		}
		if !slices.Equal(c.Peers, want) {
			t.Errorf("%s looks for %v, and the service names %v", name, c.Peers, want)
		}
	}
	node := o.mounts.Spec.Template.Spec.InitContainers[0]
	if settings := joined(t, tokens, append(commandOf(t, node, "NODE", "spec.nodeName", "node-b"), "--any-uids"), "node-b"); settings != "" {
		t.Error("a node is a server")
	}
}

// commandOf returns the arguments of a container whose variable has a value from a field.
func commandOf(t *testing.T, c core.Container, variable, field, value string) (args []string) {
	t.Helper()
	if len(c.Env) != 1 || c.Env[0].Name != variable || c.Env[0].ValueFrom.FieldRef.FieldPath != field {
		t.Fatalf("%s has no %s: %+v", c.Name, variable, c.Env)
	}
	for _, a := range c.Command[1:] {
		args = append(args, strings.ReplaceAll(a, "$("+variable+")", value))
	}
	return args
}

// checkPod looks at images, commands and volumes of a pod.
func checkPod(t *testing.T, where string, pod core.PodSpec, claims []string, image string) {
	t.Helper()
	volumes, used := slices.Clone(claims), map[string]bool{}
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
