# Candor's front door. `make run` answers, `make test` proves; both first install what is missing (SETUP=no leaves that out).
SETUP ?= yes
MODEL ?=
PROMPT ?=

# Taken over unexpanded, so that a prompt may hold any character.
export CANDOR_MODEL := $(value MODEL)
export CANDOR_PROMPT := $(value PROMPT)
export PATH := $(PATH):$(HOME)/.cargo/bin

setup = $(if $(filter no,$(SETUP)),@:,@tools/setup/setup.sh)

.DEFAULT_GOAL := help
.PHONY: help run build test test-fast lint format clean

help:
	@echo 'make run        build, fetch the default model once, and chat (without a terminal: answer one question)'
	@echo '                make run MODEL=file.gguf PROMPT="…" for another model, for one question'
	@echo 'make test       build everything and run every test'
	@echo 'make test-fast  the unit tests alone'
	@echo 'make build      build/release/candor'
	@echo 'make lint       include layers, budgets, docs, clang-format, clang-tidy'
	@echo 'make format     clang-format every file in place'
	@echo 'make clean      remove build/ (not the fetched models)'
	@echo 'SETUP=no        with any of them: install nothing'

run:
	$(setup) run
	@tools/build.sh release candor
	@tools/run.sh

build:
	$(setup) run
	@tools/build.sh release candor

test:
	$(setup) test
	@tools/test.sh all

test-fast:
	$(setup) test
	@tools/test.sh fast

lint:
	$(setup) test
	@tools/lint/all.sh

format:
	$(setup) test
	@tools/lint/format.sh --fix

clean:
	rm -rf build
