# hew's targets. `make demo` and `make check` need Go, git and make; what else a check can use is found or left out, and said.
SHELL := /bin/bash

# A build is a function of the tree: no cgo, no machine paths, no VCS stamp but the version named here.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
PREFIX  ?= /usr/local
export CGO_ENABLED := 0
export VERSION

.DEFAULT_GOAL := build
.PHONY: build web demo picture check test bench bench-long fuzz soak conformance install clean help

build: ## bin/hew
	@scripts/build bin/hew

demo: build ## a failing test repaired on a bundled sample project; no key, no network
	@bin/hew demo

check: ## everything that must hold, one command; prints the seconds of each step
	@scripts/check

test: ## the tests alone, without the race detector
	go test ./...

bench: build ## ratios against references measured in the same run, under five minutes; judges nothing
	go run ./internal/hewtest/bench -bin bin/hew

bench-long: build ## what needs more than 20 s
	go run ./internal/hewtest/bench -bin bin/hew -long

FUZZTIME ?= 60s
fuzz: ## every fuzz target, FUZZTIME each (60s)
	@scripts/fuzz $(FUZZTIME)

soak: build ## random kill points and long property runs; every scenario under the race detector
	CGO_ENABLED=1 HEW_RACE=all go test -race -run '^TestScenarios$$' -count=1 -timeout 2h -parallel 4 ./internal/hewtest
	HEW_SEED=$${HEW_SEED:-$$RANDOM$$RANDOM} go test -tags soak -run '^TestSoak' -count=1 -timeout 2h -v ./...

picture: build ## docs/demo.svg, drawn from a run of the demo
	TMPDIR=/tmp bin/hew demo | sed 's|tmp-hew-demo-[0-9]*|tmp-hew-demo|g; s|/tmp/hew-demo-[0-9]*|/tmp/hew-demo|g' | go run ./internal/hewtest/picture make demo >docs/demo.svg

web: ## the page of hew serve, built from web/ into internal/surface/web/assets; needs Node 20 with npm
	cd web && npm ci --no-fund --no-audit --silent && node node_modules/typescript/bin/tsc --noEmit && node build.mjs

conformance: build ## exported interface suites, and the official libraries' drivers when Node is found
	@scripts/conformance

install: build ## PREFIX/bin/hew
	install -d "$(DESTDIR)$(PREFIX)/bin"
	install -m 0755 bin/hew "$(DESTDIR)$(PREFIX)/bin/hew"

clean: ## what the targets above made
	rm -rf bin

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
