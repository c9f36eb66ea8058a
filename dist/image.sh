#!/usr/bin/env bash
# image.sh [TAG]: builds the image of dist/docker/Dockerfile without a network: the sources that git knows, and the
# modules of this machine's cache beside them in vendor/ (those that it lacks, as one that only other systems'
# builds need, are fetched first). DOCKER is docker (default) or podman; GO_IMAGE the image
# with the Go toolchain; IMAGE_FLAGS are more flags of build. CLUSTER=1 builds that of Dockerfile.cluster, which has
# the server of a cluster as well.
set -eu
tag=${1:-ctxfs}
cd "$(dirname "$0")/.."
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
git ls-files -z --cached --others --exclude-standard -- go.mod go.sum '*.go' '*/embed/*' ':!*_test.go' ':!tests' ':!examples' | xargs -0 cp --parents -t "$context"
# What the programs embed.
go list -f '{{$d := .Dir}}{{range .EmbedFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}' ./... | sed "s,^$PWD/,," | xargs -r cp --parents -t "$context"
vendor() { GOFLAGS=-mod=mod GOPROXY=off go -C "$1" mod vendor -o "$context/$1/vendor"; }
vendored() { vendor "$1" 2>/dev/null || { go -C "$1" mod download && vendor "$1"; }; }
vendored .
file=Dockerfile
if [ "${CLUSTER:-}" = 1 ]; then # a module of its own
	file=Dockerfile.cluster
	cp --parents -t "$context" cluster/embed/go.mod cluster/embed/go.sum
	vendored cluster/embed
fi
# shellcheck disable=SC2086 # words on purpose
${DOCKER:-docker} build --network none ${IMAGE_FLAGS-} ${GO_IMAGE:+--build-arg GO_IMAGE="$GO_IMAGE"} \
	--build-arg COMMIT="$(git describe --always --dirty --exclude '*' 2>/dev/null || true)" \
	-f "dist/docker/$file" -t "$tag" "$context"
