# Go alone runs the tool (`make run`); `make tools` installs what the tests
# and the rebuilding of our kernels need besides.

GO      ?= go
PYTHON  ?= python3
SUDO    := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
APT     := clang-22 lld-22 llvm-22 z3 cvc5
TRITON  := triton==3.9.0
ISA     := tinygrad==0.14.0
FP8     := ml_dtypes==0.7.0 numpy==2.4.6

.PHONY: run build test check tools kernels generate bench lint

run:
	$(GO) run ./cmd/mqaproof fuzz

build: bin/mqaproof

bin/mqaproof: FORCE
	$(GO) build -o $@ ./cmd/mqaproof
FORCE:

# test installs what is missing and then leaves no test out: CI=true turns a
# missing tool from a skip into a failure.
test: tools lint
	CI=true $(GO) test -timeout 20m ./...

# check is the quick one: what runs with Go alone.
check:
	$(GO) test ./...

tools: .venv/.done
	@missing=; for t in clang-22 ld.lld-22 llvm-objdump-22 llvm-mc-22 llvm-readelf-22 z3 cvc5; do \
	  command -v $$t >/dev/null || missing="$$missing $$t"; done; \
	if [ -n "$$missing" ]; then echo "installing $(APT), for$$missing"; \
	  $(SUDO) apt-get update -q && $(SUDO) apt-get install -qy --no-install-recommends $(APT); fi

.venv/.done: Makefile
	$(PYTHON) -m venv .venv
	.venv/bin/python -m pip install -q --disable-pip-version-check $(TRITON) $(ISA) $(FP8)
	touch $@

# kernels rebuilds our code objects from their sources.
kernels: tools
	kernels/hip/build.sh kernels/hip/obj

# generate makes the decoder's tables and the emulator's loops again.
generate: tools
	$(GO) generate ./...

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

lint:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "not gofmt-clean: $$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) mod verify
