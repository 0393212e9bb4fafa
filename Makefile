# ipf: build, test, install. `make help` lists the targets; HACKING.md explains the sources.
#
#   make                                     the programs and the simulated server, in .build/bin
#   make SANITIZE=address,undefined check    the tests under sanitizers, in a build folder of their own
#   make CC=clang WERROR=1 CFLAGS=-O1
#   make prefix=/usr DESTDIR=/tmp/stage install
#
# V=1 shows the commands. All build output is in $(BUILD).

prefix      ?= /usr/local
bindir      ?= $(prefix)/bin
mandir      ?= $(prefix)/share/man
sharedir        ?= $(prefix)/share/ipf
libdir          ?= $(prefix)/lib
includedir      ?= $(prefix)/include
completions     ?= $(prefix)/share/bash-completion/completions
zshcompletions  ?= $(prefix)/share/zsh/site-functions
fishcompletions ?= $(prefix)/share/fish/vendor_completions.d
BUILD       ?= .build$(if $(SANITIZE),/$(subst $(comma),-,$(SANITIZE)))
PKG_CONFIG  ?= pkg-config
comma       := ,
space       := $(subst ,, )
# One spelling for the folder, however it was given: the compiler's dependency files contain it.
override BUILD := $(patsubst $(CURDIR)/%,%,$(abspath $(BUILD)))

PROGRAMS := ipf-prep ipf-sched ipf-fire ipf-collect ipf-report ipf-twin ipf-sim
VERSION  := $(shell sed -n 's/^.define IPF_VERSION "\(.*\)"/\1/p' lib/version.h)
SHARED_FILES := $(wildcard share/ipf/*.mk share/ipf/*.sh share/ipf/*.awk)
# NAME.members becomes NAME.schema.json, by the programs' tables.
SCHEMAS  := $(patsubst share/ipf/schema/%.members,$(BUILD)/schema/%.schema.json,$(filter-out %/common.members,$(wildcard share/ipf/schema/*.members)))
# NAME.in is a page for a program to complete: the result is in $(BUILD)/man.
pages_made := $(addprefix $(BUILD)/man/,$(notdir $(basename $(wildcard ipf-*/*.in))))
MANUALS  := $(wildcard ipf-*/*.[15] libipf/*.3 lib/*/*.5 lib/*.[17]) $(pages_made)
HEADERS  := $(wildcard libipf/ipf/*.h)
# Installed examples: dashboards, and programs reading results.
INSTALLED_EXAMPLES := $(wildcard examples/grafana/*.json examples/grafana/*.md examples/library/*.*)
# Debian packages: to build and run, to test, to lint.
DEBS      := build-essential pkg-config libcurl4-openssl-dev libjansson-dev libzstd-dev libarchive-dev libssl-dev \
             libnghttp2-dev libpcre2-dev libutf8proc-dev libmicrohttpd-dev libsnappy-dev libexpat1-dev libpng-dev libpcap-dev zlib1g-dev ca-certificates curl gnuplot-nox \
             jq zstd openssl mandoc
DEBS_TEST := libcmocka-dev gojq python3 python3-grpcio python3-grpc-tools python3-jsonschema json-schema-test-suite python3-yaml nginx-light groff \
             p7zip-full xz-utils bzip2 strace iproute2 tcpdump bsdutils unicode-data zsh fish prometheus prometheus-pushgateway \
             sqlite3 postgresql valgrind
DEBS_CLUSTER := slurm-wlm munge buildah podman runc mmdebstrap containerd containernetworking-plugins
DEBS_LONG := chromium
DEBS_SERVERS := haproxy caddy curl unzip python3-venv
DEBS_PACKAGES := debhelper dpkg-dev lintian mmdebstrap musl-tools musl busybox-static python3-venv
DEBS_LINT := clang libclang-rt-dev clang-format clang-tidy shellcheck mandoc graphviz

# pkg-config packages of lib, which every program links, and of each program.
pkgs_lib      := jansson libzstd libcrypto libpcre2-8 libutf8proc
pkgs_prep     := libarchive libcurl snappy libpng libpcap libnghttp2 zlib
pkgs_sched    :=
pkgs_fire     := libcurl libssl libnghttp2
pkgs_collect  := libcurl libmicrohttpd snappy
pkgs_report   := libcurl expat
pkgs_twin     :=
pkgs_sim      :=
pkgs_operator := libcurl libmicrohttpd

# Memory errors stop a program: HARDEN= leaves this out. Sanitizers have checks of their own, and glibc's need optimisation.
HARDEN  ?= yes
x86     := $(filter x86_64 i%86,$(shell uname -m))
hardening = -fstack-protector-strong -fstack-clash-protection $(if $(x86),-fcf-protection) \
             $(if $(SANITIZE)$(findstring -O0,$(CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)

# The build contains no path of this machine: the same sources give the same bytes anywhere.
same_paths = -fdebug-prefix-map=$(CURDIR)=. -fdebug-prefix-map=$(BUILD)=.build
# The user's CFLAGS come last and win. One set of objects is for the programs and for the library.
all_cflags = -std=c11 -D_GNU_SOURCE -O2 -g -ffp-contract=off -fPIC -fvisibility=hidden -pthread $(same_paths) -Ilib -Ilibipf -MMD -MP \
             -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla \
             $(if $(HARDEN),$(hardening)) $(if $(WERROR),-Werror) $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all) \
             $(CPPFLAGS) $(CFLAGS)
# Allocations pass through lib/memory.c.
wrap = -Wl$(subst $(space),,$(foreach f,malloc calloc realloc reallocarray free strdup strndup asprintf __asprintf_chk,$(comma)--wrap=$(f)))
harden_link = $(if $(HARDEN),-Wl$(comma)-z$(comma)relro$(comma)-z$(comma)now)
all_ldflags = -pthread $(harden_link) $(wrap) $(if $(SANITIZE),-fsanitize=$(SANITIZE)) $(LDFLAGS)

Q   = $(if $(V),,@)
say = $(if $(V),,@printf '  %-5s %s\n' $(1) $(2))

# Asks pkg-config, silently if the target compiles nothing.
compile_nothing := advisories check clean coverage deb demo deps deps-all dist format format-check fuzz fuzz-minimize graph help html lint mutants tables tidy uninstall
quietly  := $(if $(filter $(compile_nothing),$(MAKECMDGOALS)),2>/dev/null)
flags_of = $(if $(1),$(shell $(PKG_CONFIG) --cflags $(1) $(quietly)))
libs_of  = $(if $(1),$(shell $(PKG_CONFIG) --libs $(1) $(quietly)))
cflags_lib := $(call flags_of,$(pkgs_lib))
libs_lib   := $(call libs_of,$(pkgs_lib)) -lm
ifeq ($(quietly)$(strip $(libs_lib)),-lm)
$(warning packages are missing: `make deps` installs them)
endif

# The library: libipf.so.MAJOR for programs, and libipf.a.
VERSION_MAJOR := $(firstword $(subst ., ,$(VERSION)))
soname    := libipf.so.$(VERSION_MAJOR)
libraries := $(addprefix $(BUILD)/library/,$(soname) libipf.a)

.PHONY: all tests check check-long operator bench bench-tools coverage fuzz fuzz-minimize mutants demo deps deps-all
.PHONY: lint format format-check tidy tables graph html dist advisories deb bundle wheel check-packages install uninstall clean help
.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:

all: $(addprefix $(BUILD)/bin/,$(PROGRAMS) ipf) $(libraries) $(pages_made) $(SCHEMAS) ## build everything (the default)

# ---- lib ------------------------------------------------------------------------------------------------------------
sources_in  = $(sort $(shell find $(1) -name "*.c"))
lib_sources := $(call sources_in,lib)
lib_objects := $(lib_sources:%.c=$(BUILD)/%.o) $(BUILD)/lib/api/api_builtin.o
api_files   := $(sort $(wildcard lib/api/apis/*.json))

$(BUILD)/libipf.a: $(lib_objects)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $(lib_objects)

# The API descriptors, compiled in as C strings: {name, text} pairs.
$(BUILD)/lib/api/api_builtin.c: $(api_files) lib/json/embed.sh Makefile
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D) && sh lib/json/embed.sh api_builtins $(api_files) > $@

# The formats of data ipf-prep reads, in the same way.
format_files   := $(sort $(wildcard ipf-prep/formats/*.json))
generated_prep := $(BUILD)/ipf-prep/sources/builtin_formats.o
tools_prep     := ipf-prep/sources/write_formats_page.c
$(BUILD)/ipf-prep/sources/builtin_formats.c: $(format_files) lib/json/embed.sh Makefile
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D) && sh lib/json/embed.sh format_builtins $(format_files) > $@

# The style sheet and the script of HTML reports, compiled in as C strings.
page_files := $(wildcard ipf-report/html/*.css ipf-report/html/*.js)
generated_report := $(BUILD)/ipf-report/html/page_files.o $(BUILD)/ipf-report/catalogue/definitions.o
$(BUILD)/ipf-report/html/page_files.c: $(page_files) ipf-report/html/embed.sh Makefile
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D) && sh ipf-report/html/embed.sh $(page_files) > $@

# The definitions of figures, compiled in as a table.
tools_report      := ipf-report/catalogue/write_definitions_page.c ipf-report/schemas/write_schema.c
embed_definitions := ipf-report/catalogue/embed_definitions.sh ipf-report/catalogue/definitions.txt
$(BUILD)/ipf-report/catalogue/definitions.c: $(embed_definitions) Makefile
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D) && sh $(embed_definitions) > $@

# The tests of a program are one binary, since each link takes about a second: the main of a test has the name of its file, and
# tests/KIND/all.c runs the tests named. rule: kind, name of the binary, test files, objects, libraries
define bundle_rules
$(BUILD)/tests/$(1)/$(2).list: tests/$(1)
	$$(Q)mkdir -p $$(@D) && printf 'EACH(%s)\n' $(3) > $$@
$(BUILD)/tests/$(1)/all_$(2).o: tests/$(1)/all.c $(BUILD)/tests/$(1)/$(2).list $(BUILD)/flags
	$$(call say,CC,$$@)
	$$(Q)$$(CC) $$(all_cflags) -DLIST='"$(2).list"' -I$$(@D) -c -o $$@ $$<
$(BUILD)/$(1)/$(2): $(3:%=$(BUILD)/tests/$(1)/%.o) $(BUILD)/tests/$(1)/all_$(2).o $(4)
	$$(call say,LD,$$@)
	$$(Q)mkdir -p $$(@D) && $$(CC) $$(all_ldflags) -o $$@ $$^ $(5)
test_bundles += $(BUILD)/$(1)/$(2)
endef
name_of_test = $(basename $(notdir $@))
unit_main = -Dmain=$(name_of_test) -Wno-missing-prototypes
units_of  = $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_$(1).c))

# ---- programs -------------------------------------------------------------------------------------------------------
# rule: short name, folder, program
define program_rules
sources_$(1) := $$(filter-out $$(tools_$(1)),$$(call sources_in,$(2)))
objects_$(1) := $$(sources_$(1):%.c=$$(BUILD)/%.o) $$(generated_$(1))
modules_$(1) := $$(filter-out %/main.o,$$(objects_$(1)))
cflags_$(1)  := $$(call flags_of,$$(pkgs_$(1)))
libs_$(1)    := $$(call libs_of,$$(pkgs_$(1)))
$$(BUILD)/$(2)/%.o: room_cflags = -I$(2) $$(cflags_$(1))
$$(BUILD)/bin/$(3): $$(objects_$(1)) $$(BUILD)/libipf.a
	$$(call say,LD,$$@)
	$$(Q)mkdir -p $$(@D) && $$(CC) $$(all_ldflags) -o $$@ $$(objects_$(1)) $$(BUILD)/libipf.a $$(libs_$(1)) $$(libs_lib)
# Its unit tests link all of its modules but main.
$$(BUILD)/tests/unit/test_$(1)_%.o: room_cflags = -I$(2) $$(cflags_$(1)) $$(unit_main)
$$(eval $$(call bundle_rules,unit,$(1),$$(call units_of,$(1)_*),$$(modules_$(1)) $$(BUILD)/libipf.a,$$(libs_$(1)) $$(libs_lib) -lcmocka))
endef
$(foreach p,prep sched fire collect report twin sim,$(eval $(call program_rules,$(p),ipf-$(p),ipf-$(p))))
# The operator of examples/kubernetes is built for the tests and for the image, and not installed.
operator := $(wildcard examples/kubernetes/operator/source)
$(if $(operator),$(eval $(call program_rules,operator,$(operator),ipf-operator)))

# Pages a program completes.
define tool_rules # PROGRAM FOLDER TOOL
$$(BUILD)/$(2)/$(3): $$(BUILD)/$(2)/$(3).o $$(modules_$(1)) $$(BUILD)/libipf.a
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $$(all_ldflags) -o $$@ $$^ $$(libs_$(1)) $$(libs_lib)
endef
define page_rules # PROGRAM FOLDER TOOL PAGE
$$(eval $$(call tool_rules,$(1),$(2),$(3)))
$$(BUILD)/man/$(4): $$(BUILD)/$(2)/$(3) ipf-$(1)/$(4).in
	$$(call say,GEN,$$@)
	$$(Q)mkdir -p $$(@D) && $$< < ipf-$(1)/$(4).in > $$@
endef
$(eval $(call page_rules,prep,ipf-prep/sources,write_formats_page,ipf-prep-formats.5))
$(eval $(call page_rules,report,ipf-report/catalogue,write_definitions_page,ipf-report-definitions.1))

$(eval $(call tool_rules,report,ipf-report/schemas,write_schema))
$(BUILD)/schema/%.schema.json: $(BUILD)/ipf-report/schemas/write_schema share/ipf/schema/common.members share/ipf/schema/%.members
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D) && $< $* $(filter %.members,$^) > $@

# Its C interface does not tell the version.
cflags_collect += -DSNAPPY_VERSION='"$(shell $(PKG_CONFIG) --modversion snappy $(quietly))"'

# Sources for connections beside the run, and for Parquet: the programs using them link libcurl and Snappy.
$(addprefix $(BUILD)/lib/,aws/%.o hub/%.o http/%.o parquet/%.o push/%.o): room_cflags = $(cflags_collect)
$(BUILD)/tests/unit/test_lib_%.o: room_cflags = $(unit_main)
$(eval $(call bundle_rules,unit,lib,$(call units_of,lib_*),$(BUILD)/libipf.a,$(libs_collect) $(call libs_of,libssl libarchive) $(libs_lib) -lcmocka))

$(BUILD)/%.o: %.c $(BUILD)/flags
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(all_cflags) $(sections) $(cflags_lib) $(room_cflags) -c -o $@ $<
$(BUILD)/%.o: $(BUILD)/%.c $(BUILD)/flags
	$(call say,CC,$<)
	$(Q)$(CC) $(all_cflags) $(cflags_lib) $(room_cflags) -c -o $@ $<

# The library leaves out the parts for programs only: they change the process.
$(addprefix $(BUILD)/,lib/cli/options.o lib/cli/interrupt.o ipf-fire/run/settings.o ipf-fire/run/run.o): sections = -ffunction-sections

# Other flags or another compiler rebuild everything.
flags_now = $(CC) $(filter-out $(same_paths),$(all_cflags)) $(all_ldflags) $(value unit_main) $(FUZZER)
ifneq ($(file <$(BUILD)/flags),$(flags_now))
$(BUILD)/flags: FORCE
endif
$(BUILD)/flags:
	@mkdir -p $(@D); printf '%s\n' '$(flags_now)' > $@
.PHONY: FORCE
FORCE:

-include $(shell test -d $(BUILD) && find $(BUILD) \( -path $(BUILD)/deb -o -path $(BUILD)/failed \) -prune -o -type f -name '*.d' -print)

# The launcher finds the makefiles from there.
$(BUILD)/bin/ipf: share/ipf/ipf
	$(Q)mkdir -p $(@D) && sed "s|^tree=[^ ]*|tree=$$(realpath -m --relative-to=$(@D) share/ipf)|" $< > $@ && chmod 755 $@

# ---- libipf ---------------------------------------------------------------------------------------------------------
# Rooms of lib and of the programs behind the headers of libipf/ipf. They are taken from archives, so only the used
# objects are in it; library_memory.o replaces memory.o, and no allocation of the process is intercepted.
pkgs_library    := $(pkgs_lib) $(pkgs_fire)
library_objects := $(patsubst %.c,$(BUILD)/%.o,$(wildcard libipf/*.c))
library_rooms   := $(filter-out $(BUILD)/ipf-collect/transport/%,$(modules_collect)) $(modules_sched) $(modules_fire)
$(BUILD)/libipf/%.o: room_cflags = -Iipf-collect -Iipf-sched -Iipf-fire $(cflags_fire)

$(BUILD)/library/rooms.a: $(library_rooms)
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D) && rm -f $@ && ar qcs $@ $^

$(BUILD)/library/$(soname): $(library_objects) $(BUILD)/library/rooms.a $(BUILD)/libipf.a libipf/libipf.map
	$(call say,LD,$@)
	$(Q)$(CC) -shared -pthread $(harden_link) -Wl,--gc-sections -Wl,-soname,$(soname) -Wl,--version-script=libipf/libipf.map \
		$(if $(SANITIZE),-fsanitize=$(SANITIZE),-Wl,-z,defs) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) \
		$(call libs_of,$(pkgs_library)) -lm
	$(Q)ln -sf $(soname) $(@D)/libipf.so

# One object in which all names but the public ones are local, so a program may use them for its own functions.
$(BUILD)/library/libipf.a: $(library_objects) $(BUILD)/library/rooms.a $(BUILD)/libipf.a
	$(call say,AR,$@)
	$(Q)$(LD) -r -o $(@D)/libipf.o $(filter %.o %.a,$^) && objcopy --localize-hidden $(@D)/libipf.o && \
		rm -f $@ && ar qcs $@ $(@D)/libipf.o

# ---- tests ----------------------------------------------------------------------------------------------------------
fuzz_names := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))

# To be preloaded by tests; without sanitizers.
preloads := $(patsubst %,$(BUILD)/tests/%.so,attempts fail_once lookup opened trespass wall_clock)
$(BUILD)/tests/%.so: tests/preload/%.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) -std=c11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Wconversion $(if $(WERROR),-Werror) -fPIC -shared -o $@ $<

# To be found by LD_LIBRARY_PATH: NVIDIA's management library, with devices whose power is known.
$(BUILD)/tests/nvml/libnvidia-ml.so.1: tests/preload/fake_nvml.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) -std=c11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Wconversion $(if $(WERROR),-Werror) -fPIC -shared -o $@ $< -lm

# The library's functions, with the sanitizers of the build.
$(BUILD)/tests/unit/test_public.o: room_cflags = $(unit_main)
$(BUILD)/unit/public: wrap =
$(eval $(call bundle_rules,unit,public,test_public,$(library_objects) $(BUILD)/library/rooms.a $(BUILD)/libipf.a,$(call libs_of,$(pkgs_library)) -lm -lcmocka))

# Fuzz targets, by the program whose modules they link: a binary to replay corpora, or for `make fuzz` (FUZZER=1) one for each
# target with libFuzzer's main. rule: group, targets, folders of headers, objects, libraries
define fuzz_rules
$(2:%=$(BUILD)/tests/fuzz/%.o): room_cflags = $(3:%=-I%) $(if $(FUZZER),,-DLLVMFuzzerTestOneInput=$$(name_of_test)) -Wno-missing-prototypes
$(if $(FUZZER),$$(eval $$(call fuzzer_rule,$(2),$(4),$(5))),$$(eval $$(call bundle_rules,fuzz,$(1),$(2),$(4),$(5))))
endef
define fuzzer_rule
$(1:%=$(BUILD)/fuzz/%): $(BUILD)/fuzz/%: $(BUILD)/tests/fuzz/%.o $(2)
	$$(call say,LD,$$@)
	$$(Q)mkdir -p $$(@D) && $$(CC) $$(all_ldflags) -fsanitize=fuzzer -o $$@ $$^ $(3)
endef
fuzz_special := $(filter fuzz_report_% fuzz_http% fuzz_fire_% fuzz_sched_% fuzz_sim_% fuzz_operator_%,$(fuzz_names))
archive := $(BUILD)/libipf.a
$(eval $(call fuzz_rules,report,$(filter fuzz_report_%,$(fuzz_names)),ipf-report,$(modules_report) $(archive),$(libs_report) $(libs_lib)))
$(eval $(call fuzz_rules,http,$(filter fuzz_http% fuzz_fire_%,$(fuzz_names)),ipf-fire,$(modules_fire) $(archive),$(libs_fire) $(libs_lib)))
$(eval $(call fuzz_rules,sched,$(filter fuzz_sched_%,$(fuzz_names)),ipf-sched,$(modules_sched) $(archive),$(libs_lib)))
$(eval $(call fuzz_rules,sim,$(filter fuzz_sim_%,$(fuzz_names)),ipf-sim,$(modules_sim) $(archive),$(libs_lib)))
$(if $(operator),$(eval $(call fuzz_rules,operator,$(filter fuzz_operator_%,$(fuzz_names)),$(operator),$(modules_operator) $(archive),$(libs_operator) $(libs_lib))))
$(eval $(call fuzz_rules,files,$(filter-out $(fuzz_special),$(fuzz_names)),ipf-collect ipf-prep,$(modules_collect) $(modules_prep) $(archive),$(libs_prep) $(libs_collect) $(libs_lib)))

# Programs printing our readers' results, for tests comparing them with other readers.
$(BUILD)/tests/differ/%.o: room_cflags = -Iipf-fire
$(BUILD)/tests/readers: $(BUILD)/tests/differ/readers.o $(archive)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(all_ldflags) -o $@ $^ $(libs_lib)

# The rows of a Parquet file, for comparisons with other readers.
$(BUILD)/tests/parquet_rows: $(BUILD)/tests/differ/parquet_rows.o $(archive)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(all_ldflags) -o $@ $^ $(libs_prep) $(libs_lib)

libraries_of_tests := $(BUILD)/tests/readers $(BUILD)/tests/parquet_rows $(if $(operator),$(BUILD)/bin/ipf-operator) $(preloads) $(BUILD)/tests/nvml/libnvidia-ml.so.1
tests: all $(test_bundles) $(libraries_of_tests) ## build the tests and what they test
# Installs missing packages, builds, and runs $(TESTS), or else $(1); $(2): environment; $(3): more packages.
define run_tests
-$(Q)$(MAKE) --no-print-directory deps DEPS="$(DEBS) $(DEBS_TEST) $(3)"
$(Q)$(MAKE) --no-print-directory tests
$(Q)BUILD=$(abspath $(BUILD)) SANITIZE=$(SANITIZE) $(2) tests/run $(or $(TESTS),$(1))
endef
check: ## install what is missing, build, and run all tests (TESTS=… selects some by name)
	$(call run_tests)
operator: $(BUILD)/bin/ipf-operator ## build the operator of examples/kubernetes
# STALLS=1: see tests/stress.
check-stress: ## run the tests RUNS=5 times in random orders beside BUSY=2 busy processes, and list what failed once (TESTS=…, SEED=…)
	-$(Q)$(MAKE) --no-print-directory deps DEPS="$(DEBS) $(DEBS_TEST)"
	$(Q)$(MAKE) --no-print-directory tests
	$(Q)BUILD=$(abspath $(BUILD)) SANITIZE=$(SANITIZE) RUNS=$(RUNS) BUSY=$(BUSY) tests/stress $(TESTS)
check-cluster: ## run the examples of clusters on real ones, which start here; as root, takes minutes (TESTS=…)
	$(call run_tests,cluster/,JOBS=1 LIMIT=1800,$(DEBS_CLUSTER))
check-faults: ## try faults of servers, networks and machines, and let each call fail once; takes long (TESTS=…, FAULTS=…, IPF_KINDS=…)
	$(call run_tests,faults/,JOBS=$(or $(JOBS),$(shell nproc)) LIMIT=14400)
check-servers: ## run ipf against servers and proxies that others wrote; takes minutes (TESTS=…, IPF_PEER_SERVERS=…)
	$(call run_tests,servers/,JOBS=1 LIMIT=3600,$(DEBS_SERVERS))

# Tests of half an hour or more, and tests with a longer form.
long_tests := long/ unit/test_report_difference unit/test_lib_tokenizer cli/differ- cli/collect-until-stable cli/report-saturation cli/fire-h2-servers cli/fire-proxy-servers cli/fire-meddled \
              cli/report-html cli/report-explore
check-long: ## soak the programs for 40 minutes (SOAK='30 10'), and run tests that are random or long for longer (TESTS=…, IPF_ROUNDS=100)
	$(call run_tests,$(long_tests),IPF_LONG=1 IPF_ROUNDS=$(or $(IPF_ROUNDS),100) JOBS=1 LIMIT=7200,$(DEBS_LONG))

FUZZ_TIME ?= 30
fuzz_wanted = $(filter $(patsubst %,fuzz_%,$(FUZZ:fuzz_%=%)),$(fuzz_names))
fuzz_make   = $(MAKE) --no-print-directory CC=clang SANITIZE=address,undefined CFLAGS='-O1 -fsanitize=fuzzer-no-link' FUZZER=1 \
              BUILD=.build/fuzzer
FUZZ        ?= %
fuzz: ## search for inputs that break a reader, FUZZ_TIME=30 seconds each, FUZZ='NAME…' some (needs clang and libclang-rt-dev)
	$(Q)$(fuzz_make) $(fuzz_wanted:%=.build/fuzzer/fuzz/%)
	$(Q)tests/fuzz/run search .build/fuzzer $(FUZZ_TIME) $(fuzz_wanted:fuzz_%=%)
fuzz-minimize: ## keep of each corpus, with what make fuzz has found, only inputs that reach something new (FUZZ='NAME…')
	$(Q)$(fuzz_make) $(fuzz_wanted:%=.build/fuzzer/fuzz/%)
	$(Q)tests/fuzz/run minimize .build/fuzzer $(FUZZ_TIME) $(fuzz_wanted:fuzz_%=%)

# Built by clang, whose counters are mapped files: gcov loses its counters if a test ends a process or limits its writes.
coverage_build := $(CURDIR)/.build/coverage
coverage: ## run all tests and list the lines that none has run (needs clang and llvm; takes half an hour; TESTS=…)
	-$(Q)$(MAKE) --no-print-directory deps DEPS="$(DEBS) $(DEBS_TEST) $(DEBS_LINT) llvm"
	$(Q)$(MAKE) --no-print-directory CC=clang HARDEN= BUILD=$(coverage_build) LDFLAGS=-fprofile-instr-generate \
		CFLAGS='-O0 -g -fprofile-instr-generate -fcoverage-mapping -mllvm -runtime-counter-relocation' tests
	$(Q)rm -rf $(coverage_build)/profiles && mkdir $(coverage_build)/profiles
	-$(Q)LLVM_PROFILE_FILE=$(coverage_build)/profiles/%m%c.profraw IPF_STEP=30 LIMIT=900 BUILD=$(coverage_build) \
		tests/run $(TESTS) > $(coverage_build)/tests.log 2>&1; tail -1 $(coverage_build)/tests.log
	$(Q)tests/coverage.py .build/coverage

MUTANTS ?= 20
mutants: ## change one thing in a source at a time, and list what no test notices (MUTANTS=20 changes a file; FILES=…; takes an hour)
	-$(Q)$(MAKE) --no-print-directory deps DEPS="$(DEBS) $(DEBS_TEST)"
	$(Q)mkdir -p .build/mutants && git ls-files -z | tar --null -T - -c | tar -x -C .build/mutants
	$(Q)tests/mutants/mutate.py .build/mutants -n $(MUTANTS) $(FILES)

# The servers and clients used as baselines of benchmarks.
bench_tools := $(addprefix $(BUILD)/bench/,rawserver bareclient sleeper recordgen decrypt)
$(BUILD)/tests/bench/%.o: room_cflags = -Iipf-sim
$(BUILD)/bench/rawserver: $(addprefix $(BUILD)/tests/,bench/rawserver.o bench/rawanswer.o bench/rawtls.o bench/sendlog.o) \
	$(BUILD)/ipf-sim/timers.o
$(BUILD)/bench/bareclient: $(BUILD)/tests/bench/bareclient.o $(BUILD)/tests/bench/rawtls.o
$(BUILD)/bench/rawserver $(BUILD)/bench/bareclient $(BUILD)/bench/decrypt: bench_libs = $(call libs_of,libssl)
$(BUILD)/bench/%: $(BUILD)/tests/bench/%.o $(BUILD)/libipf.a
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(all_ldflags) -o $@ $(filter %.o,$^) $(BUILD)/libipf.a $(bench_libs) $(libs_lib)

bench-tools: all $(bench_tools) ## build what the benchmarks need
bench: bench-tools ## measure, as ratios to baselines in the same run (BENCHES=…)
	$(Q)BUILD=$(abspath $(BUILD)) tests/bench/run $(BENCHES)

demo: ## install what is missing, build, run the pipeline against the simulated server
	-$(Q)$(MAKE) --no-print-directory deps
	$(Q)$(MAKE) --no-print-directory $(if $(findstring j,$(filter-out --%,$(MAKEFLAGS))),,-j$(shell nproc)) all
	$(Q)BUILD=$(abspath $(BUILD)) examples/demo.sh

# DEPS: which packages; `make check` adds those of the tests. RUNLEVEL=1 keeps packages from starting services.
DEPS ?= $(DEBS)
deps: ## install the Debian packages that the build needs (DEPS=… others)
	$(Q)if ! command -v dpkg-query >/dev/null; then echo "deps: not Debian; install the equivalents of: $(DEPS)"; exit 0; fi; \
	missing=; for p in $(DEPS); do \
		dpkg-query -W -f '$${db:Status-Status}\n' $$p 2>/dev/null | grep -qx installed || missing="$$missing $$p"; done; \
	if [ -z "$$missing" ]; then [ "$(MAKELEVEL)" != 0 ] || echo "deps: nothing to install"; exit 0; fi; \
	echo "deps: installing with apt-get:$$missing"; \
	sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	$$sudo apt-get update -qq && $$sudo env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
		apt-get install -y -qq --no-install-recommends $$missing >/dev/null
deps-all: ## install the packages for building, testing and linting
	$(Q)$(MAKE) --no-print-directory deps DEPS="$(DEBS) $(DEBS_TEST) $(DEBS_LINT)"

# ---- the state of the sources ---------------------------------------------------------------------------------------
# Generated tables keep the layout their scripts gave them.
formatted = $(filter-out $(shell grep -rl --include='*.[ch]' 'clang-format off' lib),$(wildcard $(shell find lib libipf ipf-* tests examples -name '*.[ch]')))

by_each_processor = xargs -P $(shell nproc) -n 16

lint: format-check ## check manual pages, English, names of tests, shell scripts and layout (by the installed linters)
	$(Q)mandoc -T lint -W warning $(filter-out $(pages_made),$(MANUALS)) $(wildcard $(pages_made))
	$(Q)BUILD=$(BUILD) tests/house/words.sh
	$(Q)awk -f tests/house/test_names.awk tests/*/*.t tests/unit/*.c
	$(Q)! command -v python3 >/dev/null || python3 tests/house/prose.py
	$(Q)! command -v shellcheck >/dev/null || { echo tests/tap.sh; \
		find .ci examples lib share tests -type f | xargs grep -lE '^#!.*(sh|bash)$$'; } | $(by_each_processor) shellcheck -S warning

format: ## lay the C sources out by .clang-format
	$(Q)clang-format -i $(formatted)
format-check: ## check that `make format` would change nothing
	$(Q)if clang-format --version 2>/dev/null | grep -q 'version 14\.'; then \
		printf '%s\n' $(formatted) | $(by_each_processor) clang-format --dry-run --Werror; \
	else echo "format-check: skipped: the layout is that of clang-format 14"; fi

tidy: $(BUILD)/lib/api/api_builtin.c ## check the C sources by .clang-tidy (minutes)
	$(Q)find lib ipf-* examples/kubernetes -name '*.c' | sort | xargs -P $(shell nproc) -n 8 sh -c 'status=0; for file; do \
		clang-tidy --quiet $$file -- -std=c11 -D_GNU_SOURCE -Ilib -I$${file%%/*} $(operator:%=-I%) $(cflags_lib) 2>/dev/null || status=1; \
		done; exit $$status' tidy

tables: ## generate tables and dashboards again, and check that they are the same
	$(Q)tests/house/tables.sh

graph: ## print the include graph of the folders for Graphviz
	$(Q)tests/house/include_graph.sh

# ---- documents and releases -----------------------------------------------------------------------------------------
html: ## the manual pages as linked HTML pages, in $(BUILD)/html
	$(Q)tests/house/html.sh $(BUILD)/html $(MANUALS)

# A release: the files git tracks, in a folder named after the version, and the files it links to.
pkgs_all := $(sort $(foreach p,lib prep sched fire collect report,$(pkgs_$(p))))
dist: ## a tar archive of the sources, and its bill of materials, in $(BUILD)
	$(Q)mkdir -p $(BUILD) && git archive --prefix=ipf-$(VERSION)/ -o $(BUILD)/ipf-$(VERSION).tar.gz HEAD
	$(Q)git diff --quiet HEAD || echo "dist: changes that are not committed are not in it" >&2
	$(Q)examples/debian/sbom.sh $(VERSION) $(BUILD)/ipf-$(VERSION).tar.gz $(pkgs_all) > $(BUILD)/ipf-$(VERSION).cdx.json
	$(call say,DIST,$(BUILD)/ipf-$(VERSION).tar.gz)

advisories: ## say which libraries have a newer version in Debian's archive, which mends advisories by it (after apt-get update)
	$(Q)examples/debian/sbom.sh $(VERSION) Makefile $(pkgs_all) | examples/debian/advisories.sh

# Debian packages of the committed tree; see examples/debian. The changelog has the version of lib/version.h and the date of the
# last commit. A revision of 0 leaves 1 to Debian. Debian's variables say who makes the packages: without them it is nobody's
# address.
deb: dist ## build Debian packages, in $(BUILD)/deb (needs DEPS="debhelper dpkg-dev lintian")
	$(Q)rm -rf $(BUILD)/deb && mkdir -p $(BUILD)/deb && cp $(BUILD)/ipf-$(VERSION).tar.gz $(BUILD)/deb/ipf_$(VERSION).orig.tar.gz
	$(Q)tar -xzf $(BUILD)/ipf-$(VERSION).tar.gz -C $(BUILD)/deb && cd $(BUILD)/deb/ipf-$(VERSION) && cp -r examples/debian debian && \
		maker="$${DEBFULLNAME:-ipf developers} <$${DEBEMAIL:-ipf@example.org}>" && \
		sed -i "s/^Maintainer: .*/Maintainer: $$maker/" debian/control && \
		printf 'ipf (%s) unstable; urgency=medium\n\n  * Version %s, see NEWS.md.\n\n -- %s  %s\n' \
			$(VERSION)-0ipf1 $(VERSION) "$$maker" "$$(git -C $(CURDIR) log -1 --format=%cD)" >debian/changelog
	$(Q)cd $(BUILD)/deb/ipf-$(VERSION) && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u BUILD dpkg-buildpackage -us -uc \
		$(if $(V),,>../build.log 2>&1 || { tail -20 ../build.log; exit 1; })
	$(Q)if command -v lintian >/dev/null; then lintian --allow-root --fail-on error $(BUILD)/deb/*.changes; \
	else echo "deb: not checked: lintian is not installed"; fi
	$(call say,DEB,"$(BUILD)/deb/*.deb")

# The programs with all that they need, for any Linux: packaging/bundle.
bundle_name := ipf-$(VERSION)-linux-$(shell uname -m)
date_of_sources = $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2>/dev/null),0)
bundle: all ## a folder of the programs with their libraries, as a tar archive in $(BUILD)
	$(Q)rm -rf $(BUILD)/stage && $(MAKE) --no-print-directory install prefix= DESTDIR=$(abspath $(BUILD))/stage >/dev/null
	$(Q)mkdir -p $(BUILD)/stage/share/doc/ipf && cp -r examples $(BUILD)/stage/share/doc/ipf
	$(Q)packaging/bundle/bundle.sh $(BUILD)/stage $(BUILD)/$(bundle_name)
	$(Q)examples/debian/sbom.sh $(VERSION) $(BUILD)/$(bundle_name) > $(BUILD)/$(bundle_name)/share/doc/ipf/ipf.cdx.json
	$(Q)tar -C $(BUILD) --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw --mtime=@$(date_of_sources) -c $(bundle_name) | \
		gzip -9n > $(BUILD)/$(bundle_name).tar.gz
	$(call say,TAR,$(BUILD)/$(bundle_name).tar.gz)

wheel: bundle ## packages for pip, for systems with glibc and with musl, in $(BUILD) (needs python3)
	$(Q)SOURCE_DATE_EPOCH=$(date_of_sources) packaging/wheel/make_wheel.py $(BUILD)/$(bundle_name) $(VERSION) $(shell uname -m) $(BUILD)

check-packages: ## make packages and bundle, install and run them in bare systems; as root, takes minutes (TESTS=…)
	-$(Q)$(MAKE) --no-print-directory deps DEPS="$(DEBS) $(DEBS_PACKAGES)"
	$(Q)$(MAKE) --no-print-directory all
	$(Q)BUILD=$(abspath $(BUILD)) JOBS=1 LIMIT=1800 tests/run $(or $(TESTS),packages/)

# ---- install --------------------------------------------------------------------------------------------------------
install: all ## install programs, library, makefiles, dashboards, manual pages and completions under $(DESTDIR)$(prefix)
	install -d $(addprefix $(DESTDIR),$(bindir) $(addprefix $(mandir)/,man1 man3 man5 man7) \
		$(includedir)/ipf $(libdir)/pkgconfig $(sharedir)/schema $(sharedir)/grafana $(sharedir)/library $(completions) $(zshcompletions) $(fishcompletions))
	install -m 755 $(addprefix $(BUILD)/bin/,$(PROGRAMS)) share/ipf/ipf $(DESTDIR)$(bindir)
	for m in $(MANUALS); do install -m 644 $$m $(DESTDIR)$(mandir)/man$${m##*.}; done
	install -m 644 $(SHARED_FILES) $(DESTDIR)$(sharedir)
	install -m 644 $(SCHEMAS) $(DESTDIR)$(sharedir)/schema
	for f in $(INSTALLED_EXAMPLES); do install -m 644 $$f $(DESTDIR)$(sharedir)/$${f#examples/} || exit 1; done
	install -m 644 $(HEADERS) $(DESTDIR)$(includedir)/ipf
	install -m 755 $(BUILD)/library/$(soname) $(DESTDIR)$(libdir)/libipf.so.$(VERSION)
	ln -sf libipf.so.$(VERSION) $(DESTDIR)$(libdir)/$(soname) && ln -sf $(soname) $(DESTDIR)$(libdir)/libipf.so
	install -m 644 $(BUILD)/library/libipf.a $(DESTDIR)$(libdir)
	sed -e 's|@prefix@|$(prefix)|; s|@libdir@|$(libdir)|; s|@includedir@|$(includedir)|; s|@version@|$(VERSION)|' \
		-e 's|@packages@|$(pkgs_library)|' libipf/ipf.pc.in > $(DESTDIR)$(libdir)/pkgconfig/ipf.pc
	for p in $(PROGRAMS) ipf; do \
		$(BUILD)/bin/$$p --completion bash > $(DESTDIR)$(completions)/$$p && \
		$(BUILD)/bin/$$p --completion zsh > $(DESTDIR)$(zshcompletions)/_$$p && \
		$(BUILD)/bin/$$p --completion fish > $(DESTDIR)$(fishcompletions)/$$p.fish || exit 1; done

uninstall: ## remove what `make install` installed
	rm -f $(addprefix $(DESTDIR)$(bindir)/,$(PROGRAMS) ipf) $(addprefix $(DESTDIR)$(completions)/,$(PROGRAMS) ipf) \
		$(addprefix $(DESTDIR)$(zshcompletions)/_,$(PROGRAMS) ipf) $(addsuffix .fish,$(addprefix $(DESTDIR)$(fishcompletions)/,$(PROGRAMS) ipf))
	for m in $(MANUALS); do rm -f $(DESTDIR)$(mandir)/man$${m##*.}/$${m##*/}; done
	rm -f $(addprefix $(DESTDIR)$(sharedir)/,$(notdir $(SHARED_FILES)) $(SCHEMAS:$(BUILD)/%=%) $(INSTALLED_EXAMPLES:examples/%=%))
	rm -f $(addprefix $(DESTDIR)$(includedir)/ipf/,$(notdir $(HEADERS))) $(DESTDIR)$(libdir)/pkgconfig/ipf.pc \
		$(addprefix $(DESTDIR)$(libdir)/libipf.,a so so.$(VERSION_MAJOR) so.$(VERSION))
	rmdir $(DESTDIR)$(includedir)/ipf 2>/dev/null || true
	rmdir $(addprefix $(DESTDIR)$(sharedir)/,schema grafana library) $(DESTDIR)$(sharedir) 2>/dev/null || true

clean: ## remove the build folder
	rm -rf .build

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile
