# Shared by the makefiles of this folder. "NAME ?= DEFAULT#: TEXT" (no space before "#:") is a variable and its help. A recipe takes
# values from the environment, as "$$NAME", so neither make nor a shell expands their text.
#: Variables of all makefiles:
URL             ?=#: the server, as in http://localhost:8000
MODEL           ?=#: the model to request (default: the trace's, or the server's only one)
API             ?=#: another API than openai-chat; ipf-fire --list-apis lists them
DATA            ?=#: a dataset or a recorded trace; without it, requests are synthetic
SOURCE          ?= auto#: the format of DATA; ipf-prep --list lists them
REQUESTS        ?= 10000#: the number of synthetic requests; none should repeat during a run
INPUT           ?= 1024#: their prompt tokens, a distribution as in ipf-prep(1)
OUTPUT          ?= 128#: their output tokens, a distribution too
SALT            ?=#: a text that fixes the synthetic prompts; by default each run has new ones, which no prefix cache knows
TOKENIZER       ?=#: the model's tokenizer.json, for exact counts
TRACE           ?=#: a finished trace, instead of DATA
SEED            ?= 1#: the seed of the trace and of the schedules
OUT             ?= $(basename $(notdir $(MAKEFILE)))#: the folder of all files (default: the makefile's name), without spaces, quotes or any of $$ # % : and the like
PREP_OPTIONS    ?=#: more options of ipf-prep; put quotes around one with spaces
FIRE_OPTIONS    ?=#: more options of ipf-fire
COLLECT_OPTIONS ?=#: more options of ipf-collect
REPORT_OPTIONS  ?=#: more options of ipf-report
CACHE_STATE     ?= try-cold#: the state of the server's prefix cache before each run: cold, try-cold (cold if the server can, else as-is), warm or as-is; see --cache in ipf-fire(1)
SCRAPE          ?=#: sample the metrics of these servers during a run: [NAME=]URL, several with spaces between them
GPU             ?=#: sample accelerators: auto, nvml, dcgm:URL, …
PROMETHEUS      ?=#: ask this Prometheus for the servers' figures at the end of a run
LISTEN          ?=#: serve the figures of the run to Prometheus, at an address such as :9464
PUSH            ?=#: send the figures of the run to [KIND=]URL
LIVE_OPTIONS    ?=#: more options of the ipf-collect that follows a run
export MAKEFILE := $(firstword $(MAKEFILE_LIST))
SHELL := $(or $(wildcard $(ipf)../../libexec/ipf/tools/sh),/bin/sh)# a bundle's
export PATH := $(value PATH):$(ipf)../../bin:$(ipf)../../.build/bin
MAKEFLAGS += -L# a link to TRACE is as new as the link itself
.DEFAULT_GOAL := all
.DELETE_ON_ERROR .NOTPARALLEL:
.PHONY: all help show report trace schedule measure FORCE
# Refused before anything runs, also $(shell …): unknown variables, values that make would expand, and an OUT that make or a shell would split.
typed := $(foreach v,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $v))),$v$(if $(findstring $$,$(value $v)),$(error $v: a value must not contain "$$"))))
VARIABLES := $(shell sed -n 's/^\([A-Z_]*\) *?=.*#:.*/\1/p' $(MAKEFILE_LIST))
$(foreach v,$(VARIABLES),$(if $(filter file,$(origin $v)),,$(if $(findstring $$,$(value $v)),$(error $v: a value must not contain "$$"))))
$(foreach v,$(filter-out $(VARIABLES) $(VARIABLES:%_NAME=%_%),$(if $(filter 0,$(MAKELEVEL)),$(typed))),$(error $v: unknown variable; $(MAKEFILE) has $(VARIABLES)))
odd := ' " ` ; & | < > ( ) { } * ? [ ] ~ : = ! ^ \ % \#
$(if $(strip $(filter-out 1,$(words x$(OUT)x))$(filter x-% xx,x$(OUT)x)$(foreach c,$(odd),$(findstring $c,$(OUT)))),$(error OUT: expected a folder's name without spaces and $$ $(odd)))
$(if $(filter-out help show report trace schedule $(sends_nothing),$(or $(MAKECMDGOALS),all)),$(foreach v,$(needs),$(if $($v),,$(error $v is missing; "$(or $(IPF_HELP),make -f $(MAKEFILE) help)" describes it))))
export $(VARIABLES)
help:
	@awk -f $(ipf)help.awk $(MAKEFILE_LIST)
# A file of settings changes if one of them does, and with it the files depending on it. It has their digest, because some values are
# secret.
$(OUT)/%.set: FORCE
	@mkdir -p $(OUT); new=$$({ printenv $(settings); stat -Lc '%n %s %y' $(foreach f,$(filter DATA TRACE TOKENIZER TWIN,$(settings)),"$$$f"); } 2>&1 | cksum); \
	[ "$$new" = "$$(cat $@ 2>&1)" ] || echo "$$new" >$@
$(OUT)/trace.set: settings = TRACE DATA SOURCE REQUESTS INPUT OUTPUT SALT SEED TOKENIZER PREP_OPTIONS
$(OUT)/run.set: settings = URL MODEL API CACHE_STATE FIRE_OPTIONS STAGES SEED SCRAPE GPU PROMETHEUS LIVE_OPTIONS UNTIL_STABLE
$(OUT)/collect.set: settings = TOKENIZER COLLECT_OPTIONS
$(OUT)/report.set: settings = REPORT_OPTIONS SLO
prep = env -S "ipf-prep $$PREP_OPTIONS" --seed "$$SEED" $${TOKENIZER:+-t "$$TOKENIZER"} $(checks)
synthetic = synthetic -n "$$REQUESTS" --input-tokens "$$INPUT" --output-tokens "$$OUTPUT"
fire = env -S "ipf-fire $${CACHE_STATE:+--cache $$CACHE_STATE} $$FIRE_OPTIONS" -u "$$URL" $${MODEL:+-m "$$MODEL"} $${API:+--api "$$API"}
collect = env -S "ipf-collect $$COLLECT_OPTIONS" $${TOKENIZER:+-t "$$TOKENIZER"} $${UNTIL_STABLE:+--until-stable "$$UNTIL_STABLE"} $$(test ! -e $(@:results.zst=live.zst) || echo --samples $(@:results.zst=live.zst))
report = env -S "ipf-report $$REPORT_OPTIONS" $${SLO:+--slo "$$SLO"}
$(OUT)/salt: $(OUT)/trace.set $(OUT)/run.set $(if $(wildcard $(OUT)/part.records.zst),FORCE)
	echo "$(OUT) $$(date +%s%N)" >$@
$(OUT)/trace.zst: $(OUT)/trace.set $(if $(TRACE)$(DATA)$(SALT),,$(OUT)/salt)
	$(if $(TRACE),test "$$TRACE" -ef $@ || ln -sf "$$(realpath "$$TRACE")" $@,$(prep) -o $@ $(if $(DATA),"$$SOURCE" "$$DATA",$(synthetic) --salt "$${SALT:-$$(cat $(OUT)/salt)}"))
