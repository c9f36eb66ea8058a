#!/usr/bin/env bash
# image.sh [TAG]: builds the image of dist/docker/Dockerfile without a network: the sources that git knows, and the
# modules of this machine's cache beside them in vendor/ (those that it lacks, as one that only other systems'
# builds need, are fetched first). DOCKER is docker (default) or podman; GO_IMAGE the image
# with the Go toolchain; IMAGE_FLAGS are more flags of build.
set -eu
tag=${1:-ctxfs}
cd "$(dirname "$0")/.."
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
git ls-files -z --cached --others --exclude-standard -- go.mod go.sum '*.go' ':!*_test.go' ':!tests' ':!examples' | xargs -0 cp --parents -t "$context"
# What the programs embed.
go list -f '{{$d := .Dir}}{{range .EmbedFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}' ./... | sed "s,^$PWD/,," | xargs -r cp --parents -t "$context"
vendor() { GOFLAGS=-mod=mod GOPROXY=off go mod vendor -o "$context/vendor"; }
vendor 2>/dev/null || { go mod download && vendor; }
# shellcheck disable=SC2086 # words on purpose
${DOCKER:-docker} build --network none ${IMAGE_FLAGS-} ${GO_IMAGE:+--build-arg GO_IMAGE="$GO_IMAGE"} \
	--build-arg COMMIT="$(git describe --always --dirty --exclude '*' 2>/dev/null || true)" \
	-f dist/docker/Dockerfile -t "$tag" "$context"
