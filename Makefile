# bulkcat: build, test and try. `make help` lists the targets.

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT  ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.release=$(VERSION) -X main.commit=$(COMMIT)

# Without inlining, the packages for S3 are 1.8 MiB smaller. They wait for the network, not for the processor.
GCFLAGS := github.com/aws/aws-sdk-go-v2/...=-l

# RACE=-race runs tests with the race detector, which needs a C compiler and twice the time. .ci/run does.
RACE ?=

# SQLite, which is translated to Go, is not instrumented: it would take six times as long, and starts no goroutine. Two
# goroutines with one connection still show, in the packages that call it. make lint vets the tests, once for all steps.
RACED := $(if $(RACE),$(RACE) -gcflags=github.com/ncruces/go-sqlite3-wasm/...=-race=false -vet=off)

BIN      ?= bin/bulkcat
FUZZTIME ?= 10s
CRASHES  ?= 1000
MILLIONS ?= 1,2,5,10
ROWS     ?= 100000

.DEFAULT_GOAL := help
.PHONY: help build man dist test-dist install test servers limiters crash cuts test-duckdb test-pyarrow test-fixtures test-suites test-browser test-airflow test-spark test-recipes test-notebook test-python test-pythons bench-python wheel wheels test-slurm test-kubernetes lint cross fuzz bench bench-growth demo taxonomy clean nights gateway reloads test-s3 test-clouds eval test-openapi

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/bulkcat, a static binary
	@mkdir -p $(dir $(BIN))
	@[ -e $(BIN) ] || echo "building $(BIN): this takes up to 2 minutes the first time"
	CGO_ENABLED=0 go build -trimpath -gcflags '$(GCFLAGS)' -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/bulkcat

man: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || date +%s)
man: ## write the man pages to bin/man
	go test ./cmd/bulkcat -count 1 -run TestManPages -man $(CURDIR)/bin/man

dist: man ## build the files of a release into bin/dist, such as VERSION=v0.1.0, which has a section in CHANGELOG.md
	cd scripts/dist && go run . -version $(VERSION)

test-dist: man ## build a release twice, compare, and install it in roots of their own; build and test on bare systems (needs root, debootstrap and rpm; lintian and rpmlint see the packages where they are installed)
	cd scripts/dist && go test . -full -count 1 -timeout 0 -v

# Makers of packages set PREFIX, and DESTDIR, which is put before it.
PREFIX ?= $(HOME)/.local
install: build man ## install bulkcat, its man pages and completions under PREFIX (~/.local)
	install -D -m 755 $(BIN) $(DESTDIR)$(PREFIX)/bin/bulkcat
	install -d $(addprefix $(DESTDIR)$(PREFIX)/share/,man/man1 bash-completion/completions zsh/site-functions fish/vendor_completions.d)
	install -m 644 bin/man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1
	$(BIN) completion bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/bulkcat
	$(BIN) completion zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_bulkcat
	$(BIN) completion fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/bulkcat.fish
	@case ":$$PATH:" in *":$(PREFIX)/bin:"*) ;; *) echo "$(PREFIX)/bin is not in the PATH: export PATH=\"$(PREFIX)/bin:\$$PATH\"" ;; esac

# The race detector takes four times the time, and starts a program ten times slower. These packages run without it: they start
# no goroutines, or their programs run the code of other packages. RACY are those of their tests that do start goroutines, or
# several processes. COSTLY tests compute with models, draw many samples, simulate nights or
# thousands of clients, or fill stores.
ALONE  := client/limits|cmd/bulkcat|pipeline/diff|pipeline/readback|pipeline/verify|reader|writer
RACY   := Spool|Pump|Pipe|Records|Two|Signals|GatewayKilled|TestScripts/(gateway|interrupt|listen|serve|share|stream)$$
COSTLY := ^Test(AccountOfRows|AKeyAtItsRate|AThousandKeys|BoundHolds|Calibrate|CompactLarge|Damage|FairShares|Free(|Nights|Raised|Classifications|Drift|Quota|Incomplete)|FailuresOfInputs|Fitted|Kills|LanguageOf|Languages|Lease|(Named)?Nights|OutageOfAShortList|PowerLoss|Processes|S3|ShardsAreOfEqualSize|VerifyFree)$$

# WAITING is the number of tests that run at the same time where most wait for processes.
WAITING = $(shell echo $$((2 * $$(getconf _NPROCESSORS_ONLN))))

# By default the race detector waits for a second at the end of each package's tests.
test: export GORACE := atexit_sleep_ms=0 $(GORACE)
test: ## run all tests; with RACE=-race with the race detector
	go test $(RACED) -timeout 20m -ldflags='-s -w' $(if $(RACE),-skip '$(COSTLY)' $$(go list ./... | grep -vE '/($(ALONE))$$'),./...)
	$(if $(RACE),go test -vet=off -parallel $(WAITING) -timeout 20m -ldflags='-s -w' $$(go list ./... | grep -E '/($(ALONE))$$'))
	$(if $(RACE),go test -vet=off -timeout 20m -ldflags='-s -w' ./client/answers ./client/embedded/internal/classify ./client/gateway ./pipeline/... ./scripts/nights -run '$(COSTLY)')
	$(if $(RACE),go test $(RACED) -ldflags='-s -w' ./cmd/bulkcat ./reader -run '$(RACY)')
	cd scripts/servers && go test -count 1 ./...
	cd scripts/dist && go test ./...
	@for tool in nginx tmux; do \
	  command -v $$tool >/dev/null || [ -x /usr/sbin/$$tool ] || echo "skipped: the tests that need $$tool, which is not installed"; \
	done

servers: build ## run against nginx, Caddy and toxiproxy (half an hour, needs nginx); the table is in bin/servers.md
	cd scripts/servers && BULKCAT=$(CURDIR)/bin/bulkcat SERVERS_REPORT=$(CURDIR)/bin/servers.md go test . -full -count 1 -timeout 0 -v

# PARALLEL cases run at the same time: they mostly wait. LIMITER is a part of the name of cases, before its first slash.
PARALLEL ?= 4

limiters: build ## run against the rate limiters of web frameworks and proxies (20 minutes); skips those that are not installed; the table is in bin/limiters.md
	rm -rf bin/limiters/_artifacts && mkdir -p bin/limiters
	cd scripts/servers && BULKCAT=$(CURDIR)/bin/bulkcat LIMITERS=$(CURDIR)/bin/limiters LIMITERS_REPORT=$(CURDIR)/bin/limiters.md \
	  go test ./limiters -full -count 1 -timeout 0 -v -parallel $(PARALLEL) -artifacts -outputdir $(CURDIR)/bin/limiters -run 'TestLimiters/$(LIMITER)'

# SEED is the seed of the first of NIGHTS nights. SEEDS are those of single nights instead, with commas. TITLES is the most
# titles of a night; the short form has 1000.
NIGHTS ?= 1000
SEED   ?= 1
TITLES ?= 20000
nights: ## simulate NIGHTS (1000) whole runs in synthetic time, and compare each with a client that knows everything (20 minutes); the tables are in bin/nights.md
	@mkdir -p bin
	go test $(RACE) ./scripts/nights -run TestNights -count 1 -timeout 0 -v -titles $(TITLES) $(if $(SEEDS),-seeds $(SEEDS) -talk,-nights $(NIGHTS) -first $(SEED)) > bin/nights.md; \
	  status=$$?; grep -vE '^ *(---|===)' bin/nights.md; exit $$status

# SERVED is the time for which the gateway serves.
SERVED ?= 1h
reloads: ## ask a gateway with 50 clients of three keys for SERVED (1h), while its keys and its certificate are replaced again and again
	go test ./cmd/bulkcat -count 1 -timeout 0 -v -run TestReloadsRefuseNothing -served $(SERVED)

# SEED is the seed of what is killed; 0 for another seed each time. The files of what goes wrong are below bin/crash.
KILLED = rm -rf bin/crash && mkdir -p bin/crash && go test ./cmd/bulkcat -count 1 -timeout 0 -v -artifacts -outputdir $(CURDIR)/bin/crash -seed $(SEED)
gateway crash: SEED = 0

gateway: ## 8 runs of 200,000 requests against a gateway that is killed 20 times (7 minutes)
	$(KILLED) -run TestGatewayKilled -gateway long

crash: ## kill bulkcat CRASHES (1000) times, also shards, finish, and a gateway whose upstream fails, and compare the outputs
	$(KILLED) -run TestKilledAnywhere -kills $(CRASHES)
	$(KILLED) -run TestGatewayKilled -gateway troubled
	$(KILLED) -run TestAccountAfterKills -journal-kills 20
	$(KILLED) -run TestProcessesShareAStore -sharers 16 -share-inputs 20000
	go test -run TestPowerLoss -count 1 -timeout 0 -v ./client/answers -losses 200

cuts: ## truncate every file of a run at every byte, and flip its bits; damage a store of 100,000 answers 1,200 times (two hours)
	go test -run TestFilesCutAnywhere -timeout 0 -v ./cmd/bulkcat -cut-every 1
	go test -run TestDamagedStoreAsksNothingAgain -timeout 0 -v ./cmd/bulkcat -damage-answers 100000 -damage-flips 1000 -damage-cuts 200

test-s3: build ## run against versitygw, an S3 server, with cut connections, 503 SlowDown, slow reads, and answers that are wrong or do not come
	cd scripts/servers && BULKCAT=$(CURDIR)/bin/bulkcat go test -count 1 -v ./s3 -full -parallel 6

test-clouds: ## the same with Azurite and fake-gcs-server, in a program that is built with -tags clouds (needs npm)
	go vet -tags clouds ./pipeline/storage
	CGO_ENABLED=0 go build -tags clouds -o bin/bulkcat-clouds ./cmd/bulkcat
	npm install --silent --no-audit --no-fund --prefix bin/azurite azurite@3.35.0
	GOBIN=$(CURDIR)/bin go install github.com/fsouza/fake-gcs-server@v1.56.1
	go test -tags clouds ./pipeline/storage -count 1 -v -run TestClouds -azurite $(CURDIR)/bin/azurite/node_modules/.bin/azurite-blob -fake-gcs $(CURDIR)/bin/fake-gcs-server -bulkcat $(CURDIR)/bin/bulkcat-clouds

test-duckdb: build ## read all shapes with DuckDB, and compare Parquet, CSV and JSONL (needs npm)
	scripts/duckdb/test.sh bin/bulkcat

test-pyarrow: build ## the same with pyarrow, pandas and Polars (needs python3 and pip)
	scripts/pyarrow/test.sh bin/bulkcat

test-fixtures: ## read Parquet that DuckDB, pandas, Polars, pyarrow and Spark have just written (needs python3, PyPI, Java 17)
	python3 -m venv bin/fixtures && bin/fixtures/bin/pip install -q -r scripts/fixtures/requirements.txt
	bin/fixtures/bin/python scripts/fixtures/parquet.py bin/fixtures/parquet
	go test ./reader -count 1 -v -run 'TestParquetOfOtherPrograms|TestParquetTypes' -fixtures $(CURDIR)/bin/fixtures/parquet

eval: ## measure models of the labelled samples in the folder SAMPLES, of 50, 200 and two thirds of the labels (10 minutes)
	go test -run TestSamples -count 1 -timeout 0 -v ./client/embedded/learn -samples $(abspath $(SAMPLES))

test-suites: ## read the test files of others in the folder SUITES, whole and damaged; compare with pyarrow and DuckDB (needs python3 and PyPI)
	python3 -m venv bin/suites && bin/suites/bin/pip install -q -r scripts/suites/requirements.txt
	go test ./scripts/suites -count 1 -timeout 0 -v -suites $(abspath $(SUITES)) -python $(CURDIR)/bin/suites/bin/python

test-browser: build ## open the page of a run in Chromium (installs Chromium, and axe-core with npm)
	scripts/browser/test.sh bin/bulkcat

test-airflow: wheel ## run the operator in Airflow: success, rescheduled, deferred, killed; also with its scheduler and triggerer (needs python3 3.10 or later, and PyPI)
	scripts/python/engine.sh airflow airflow
	cd scripts/python && ../../bin/airflow/bin/pytest -q -W default tests/engines/test_airflow.py

test-spark: wheel ## categorize ROWS (100000) in Spark, kill an executor and a Python worker (needs python3, PyPI, Java 17)
	go build -o bin/upstream ./scripts/engines/upstream
	scripts/python/engine.sh spark spark
	bin/spark/bin/python scripts/spark/test.py bin/spark/bin/bulkcat bin/upstream --rows $(ROWS)

test-recipes: wheel ## run the recipes for Dagster, dbt and Prefect in these (needs python3 3.10 or later, and PyPI)
	scripts/python/engine.sh recipes
	cd scripts/python && ../../bin/recipes/bin/pytest -q -W default tests/engines/test_recipes.py

test-openapi: build ## compare what a service answers with its description, by Schemathesis (needs python3, and PyPI)
	scripts/process/openapi.sh $(BIN)

test-notebook: wheel ## execute the notebook of a first use, and write bin/first-use.html (needs python3 3.10 or later, and PyPI)
	scripts/python/engine.sh notebook pandas
	scripts/python/notebook.sh bin/notebook/bin/python bin

test-slurm: build ## ROWS records in a Slurm array, from S3 to S3: a task killed, one requeued, one wiped (needs python3, root, Debian's slurm packages and munge)
	go build -o bin/upstream ./scripts/engines/upstream
	cd scripts/servers && CGO_ENABLED=0 go build -o $(CURDIR)/bin/versitygw github.com/versity/versitygw/cmd/versitygw
	python3 scripts/slurm/test.py bin/bulkcat bin/upstream bin/versitygw --records $(ROWS)

wheel: ## make the wheel of the Python package for this machine in bin/wheels (needs python3)
	rm -rf bin/wheels
	python3 scripts/python/wheel.py bin/wheels

wheels: ## make the wheels for Linux, macOS and Windows on amd64 and arm64 in bin/wheels (needs python3)
	python3 scripts/python/wheel.py bin/wheels --all

test-python: wheel ## install the wheel, and test the Python package with pandas, Polars, pyarrow and DuckDB, also with PYTHON=python3.13 (needs python3 3.10 or later, and PyPI)
	scripts/python/test.sh bin/wheels/*.whl

test-pythons: wheel ## the same with each Python from 3.10 to 3.13 that there is, and with the oldest libraries (needs PyPI)
	for version in 3.10 3.11 3.12 3.13; do \
	  python$$version -c '' 2>/dev/null || { echo "skipped: python$$version is not installed"; continue; }; \
	  [ -n "$$first" ] || first=python$$version; \
	  PYTHON=python$$version scripts/python/test.sh bin/wheels/*.whl || exit 1; \
	done; PYTHON=$$first OLDEST=1 scripts/python/test.sh bin/wheels/*.whl

bench-python: wheel ## measure the marks of the Python package with pandas: time against the command line, and memory (needs Linux, python3, PyPI)
	scripts/python/test.sh bin/wheels/*.whl --collect-only -q >/dev/null
	XDG_STATE_HOME=$(CURDIR)/bin/marks bin/python/bin/python scripts/python/marks.py

test-kubernetes: build ## compare the manifests with the schemas of Kubernetes, and run their commands (needs python3, PyPI)
	python3 -m venv bin/kubernetes && bin/kubernetes/bin/pip install -q -r scripts/kubernetes/requirements.txt
	bin/kubernetes/bin/python scripts/kubernetes/test.py bin/bulkcat

lint: ## gofmt, go vet, staticcheck, go mod tidy
	@test -z "$$(gofmt -l .)" || { echo "not gofmt-ed:"; gofmt -l .; exit 1; }
	go vet ./...
	go tool staticcheck ./...
	go mod tidy -diff
	cd scripts/servers && go vet ./... && go mod tidy -diff
	cd scripts/browser && go vet ./... && go mod tidy -diff
	cd scripts/dist && go vet ./... && go mod tidy -diff

cross: ## vet and compile for macOS and Windows
	for os in darwin windows; do GOOS=$$os CGO_ENABLED=0 go vet -gcflags='all=-N -l' ./... || exit 1; done

fuzz: ## run each fuzz target for FUZZTIME (10s)
	scripts/fuzz.sh $(FUZZTIME)

# README names another file for the tables. A short measurement writes a file only when README is set.
RESULTS := $(or $(README),$(if $(SHORT),,scripts/bench/RESULTS.md))

bench: build ## measure against a bare loop: under ten minutes, or one minute with SHORT=1; writes scripts/bench/RESULTS.md
	go run ./scripts/bench $(if $(SHORT),-short) $(if $(RESULTS),-results $(RESULTS))

bench-growth: build ## measure time and memory at MILLIONS (1,2,5,10) of records: an hour; writes scripts/bench/RESULTS.md
	go run ./scripts/bench -millions $(MILLIONS) $(if $(RESULTS),-results $(RESULTS))

demo: build ## categorize the sample websites and products, and show the first rows and the largest categories
	scripts/demo/demo.sh bin/bulkcat

taxonomy: ## generate the taxonomies from their sources (needs npm, and pip of python3)
	scripts/taxonomy/generate.sh

clean: ## remove build products
	rm -rf bin demo-out
