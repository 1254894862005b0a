# The front door. `make help` lists the targets; each is a thin call of cmake or of a tool in tools/.
SHELL := /bin/sh
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
EXAMPLE := examples/qwen3_8b_h100_vllm.json.gz
BINARY := build/release/layerscope
CLANG = $(shell sh tools/clang_version.sh)
FUZZ_SECONDS ?= 600

.DEFAULT_GOAL := help
.PHONY: help demo test test-python test-engines build viewer bench lint fuzz format deps deps-build golden-update clean

help:  ## list the targets
	@awk -F ':.*##' '/^[a-z-]+:.*##/ {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: build  ## build, then show what layerscope says about the shipped example
	$(BINARY) $(EXAMPLE)
	@mkdir -p build/demo
	@$(BINARY) report $(EXAMPLE) -o build/demo/report.md
	@$(BINARY) summary $(EXAMPLE) --format json -o build/demo/report.json
	@echo "The written report is build/demo/report.md; the page above as JSON is build/demo/report.json."
	@sh tools/demo_page.sh $(BINARY) $(EXAMPLE) build/demo/report.html

build: deps-build viewer  ## build the program: build/release/layerscope
	cmake --preset release $(CMAKE_ARGS)
	cmake --build build/release --target layerscope -j $(JOBS)

viewer: deps-build  ## build the viewer, which becomes part of the program (needs Node)
	@sh tools/viewer.sh build

test: deps  ## all that a release needs: checks, release, asan and tsan builds, every test (C++, page, Python)
	JOBS=$(JOBS) sh tools/test.sh

test-python: deps  ## lint, types and tests of the Python package alone (about 5 GB for torch, once)
	sh tools/python.sh test

test-engines: build  ## the Python package in a real vLLM (CPU build; 6 GB, up to 20 minutes)
	@sh tools/python.sh engines

bench: deps  ## layerscope against the floor program on a 500 MB trace
	cmake --preset release $(CMAKE_ARGS)
	cmake --build build/release -j $(JOBS)
	python3 bench/macro/run.py --build build/release

lint: deps  ## format, layers, spelling, self-contained headers, clang-tidy
	JOBS=$(JOBS) sh tools/test.sh lint

fuzz: deps  ## fuzz the readers for FUZZ_SECONDS (default 600) a target
	cmake --preset fuzz -DCMAKE_CXX_COMPILER=clang++-$(CLANG) $(CMAKE_ARGS)
	cmake --build build/fuzz -j $(JOBS)
	python3 tools/fuzz.py --build build/fuzz --seconds $(FUZZ_SECONDS) --jobs $(JOBS)

format: deps  ## rewrite the sources as clang-format wants them
	python3 tools/check.py --fix-format

golden-update: deps  ## rewrite the expected output of the goldens and of the README; review the diff
	cmake --preset release $(CMAKE_ARGS)
	cmake --build build/release -j $(JOBS)
	python3 tools/golden.py --update
	python3 tools/readme_blocks.py --update

deps:  ## install the packages that build and tests need (Debian, Ubuntu)
	@sh tools/bootstrap.sh build node test browser

deps-build:
	@sh tools/bootstrap.sh build node

clean:  ## remove build/
	rm -rf build viewer/dist
