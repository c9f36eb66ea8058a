# The two commands are `make run` and `make test`. `make help` lists the rest.
SHELL   := /bin/bash
GO      ?= go
PREFIX  ?= /usr/local
DESTDIR ?=
SYSCONFDIR ?= /etc
SBINDIR ?= /sbin
DEBDIR  ?= bin
IMAGE   ?= ctxfs
GIT     := git -c safe.directory='*' # also for root in a user's clone
COMMIT  := $(shell $(GIT) describe --always --dirty --exclude '*' 2>/dev/null)
BUILD   := $(GO) build -trimpath -buildvcs=false -ldflags "-X main.commit=$(COMMIT)"

# One file that needs no library of the machine it runs on, without symbols.
STATIC  := CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags "-s -w -X main.commit=$(COMMIT)"

# The document whose tables make bench replaces: BENCH_MD=1 for docs/numbers.md, or a file.
BENCH_DOC = $(if $(BENCH_MD),$(abspath $(if $(filter 1,$(BENCH_MD)),docs/numbers.md,$(BENCH_MD))))

# Go where its own installer puts it, for shells whose PATH lacks it.
export PATH := $(PATH):/usr/local/go/bin

.PHONY: run stop test test-matrix packs-same soak race bench bench-peers bench-ui pictures build man install uninstall deb image lint ci clean help
.DEFAULT_GOAL := help

run: ## build, mount a temporary store, load the example session and show it
	@dist/setup.sh run
	@$(MAKE) --no-print-directory --silent build
	@dist/run.sh

stop: ## unmount what make run mounted and remove it
	@dist/stop.sh

test: ## install what the tests need, then run all of them
	@dist/setup.sh test
	@dist/test.sh

test-matrix: ## run tests that make test omits or shortens (containers, systemd, npm, long loops), check the coverage of pack
	@dist/setup.sh matrix
	@dist/test.sh matrix

soak: ## the kill loops in full, 1,000 kills while the daemon starts among them, at random (RUN=TestX: one of them)
	@dist/setup.sh test
	CTXFS_SOAK=1 CTXFS_RANDOM=1 $(GO) test ./tests/crash -count=1 -v -timeout 3h $(if $(RUN),-run '$(RUN)')

packs-same: ## compare all prompts of the bundled sessions (and CTXFS_TESTDATA) with those of BASE=COMMIT
	@dist/packs-same.sh $(BASE)

race: ## run the packages with concurrency under the race detector
	@dist/setup.sh race
	@dist/test.sh race

bench: ## the goals of speed and size, met or missed (BENCH=smoke: a short look, BENCH_MD=1: into docs/numbers.md, AGAINST=COMMIT: beside that)
	@dist/setup.sh $(if $(filter smoke,$(BENCH)),run,bench)
	CTXFS_MATRIX=1 BENCH_MD="$(BENCH_DOC)" $(GO) test ./tests/bench -run TestBench -count=1 -v -timeout 3h -args $(if $(filter smoke,$(BENCH)),,-full) $(if $(AGAINST),-against $(AGAINST)) $(if $(ONLY),-only $(ONLY))

bench-peers: ## an append and a prompt beside the stores of agent frameworks from npm (BENCH_MD=1 as above)
	@dist/setup.sh bench-peers
	CTXFS_MATRIX=1 BENCH_MD="$(BENCH_DOC)" $(GO) test ./tests/bench -run TestBench -count=1 -v -timeout 1h -args -full -only peers

bench: $(if $(filter smoke,$(BENCH)),,bench-ui)
bench-ui: ## the pages of ctxfs ui in Chromium: first paint and an append of a session of 100,000 messages (a part of make bench)
	@dist/setup.sh bench-ui
	$(GO) test ./tests/ui -run '^$$' -bench Pages -benchtime $(if $(filter smoke,$(BENCH)),2x,15x) -count=1

pictures: ## take the pictures of ctxfs ui in docs/ anew; make test-matrix fails when the pages show something else
	@dist/setup.sh matrix
	CTXFS_PICTURES=1 CTXFS_MATRIX=1 $(GO) test ./tests/ui -run TestPicturesShowThePages -count=1 -v

# What root builds in a user's clone is the user's.
KEEP_OWNER = if [ "$$(id -u)" = 0 ]; then chown -R --reference=Makefile

build: ## bin/ctxfs
	@$(BUILD) -o bin/ctxfs ./cmd/ctxfs
	@$(KEEP_OWNER) bin; fi

man: build ## man pages, from the same source as --help
	@rm -rf man && SOURCE_DATE_EPOCH=$(shell $(GIT) log -1 --format=%ct 2>/dev/null) bin/ctxfs gen-man man docs/files.md && echo "man pages are in man/"
	@$(KEEP_OWNER) man; fi

bin/ctxfs:
	@$(MAKE) --no-print-directory build

install: bin/ctxfs ## what make build built: man pages, completions, units and the helper of mount(8) under PREFIX
	@DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" SYSCONFDIR="$(SYSCONFDIR)" SBINDIR="$(SBINDIR)" dist/install.sh install

uninstall: ## what make install installed; the same PREFIX
	@DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" SYSCONFDIR="$(SYSCONFDIR)" SBINDIR="$(SBINDIR)" dist/install.sh uninstall

deb: ## a Debian package, in DEBDIR (default bin)
	@$(STATIC) -o bin/ctxfs ./cmd/ctxfs
	@dist/deb.sh "$(DEBDIR)"
	@$(KEEP_OWNER) bin; fi

image: ## a container image from scratch, with the modules of this machine: docs/images.md
	@DOCKER="$(DOCKER)" GO_IMAGE="$(GO_IMAGE)" IMAGE_FLAGS="$(IMAGE_FLAGS)" dist/image.sh $(IMAGE)

lint: ## gofmt, go vet, staticcheck, and the checks of the source tree in tests/
	@dist/lint.sh

ci: ## run all checks of CI, each test once (.ci/run)
	@.ci/run

clean: stop ## bin, man and what make run left
	rm -rf bin man .run

help: ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20
