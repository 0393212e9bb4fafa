#: The prefix cache: the same load with prompts of which a cache can find a given
#: share, one share after another.
#:
#:   make -f cache.mk URL=http://localhost:8000 MODEL=llama-3.1-8b \
#:     HIT_RATES='0 0.5 0.9'
#:
#: Each share has other prompts, so that no run finds those of an earlier one.
#:
#: Variables (DATA, SOURCE and TRACE have no effect):
HIT_RATES    ?= 0 0.25 0.5 0.75 0.9#: the shares of all prompt tokens that a cache without a limit finds
RATE         ?= 4#: requests per second (Poisson arrivals)
FOR          ?= 60s#: how long each share is measured
UNTIL_STABLE ?=#: end each run when throughput and latency are within a limit such as 5%, at the latest after FOR; see Stability in ipf-collect(1)
GROUPS       ?=#: the number of groups of prompts that share a prefix; see --groups in ipf-prep(1)
REQUESTS     ?= 1000#: the number of requests of each share
SLO          ?=#: objectives such as p99:ttft=500ms,e2e=10s; the reports judge them

# The folder with common.mk and the scripts. In a copy of this file, write for example /usr/local/share/ipf/
ipf   := $(dir $(lastword $(MAKEFILE_LIST)))
needs = URL
include $(ipf)common.mk
$(if $(strip $(foreach c,$(odd) / -,$(findstring $c,$(HIT_RATES)))),$(error HIT_RATES: expected shares such as 0 0.5 0.9))

runs := $(HIT_RATES:%=$(OUT)/hit-%)
export RUNS := $(words $(runs))

#: Targets:
all: $(OUT)/cache.csv $(runs:=.report.txt)#: cache.csv, with the share that the server found and the possible one, and a report for each share, such as hit-0.5.report.txt
show:#: show the table again
	@sh $(ipf)cache.sh $(OUT)/cache.csv $(HIT_RATES)

# Each share has prompts of its own, also after an interruption.
$(OUT)/trace.set: settings += GROUPS
$(OUT)/run.set: settings += RATE FOR
$(runs:=.salt): $(OUT)/trace.set $(OUT)/run.set
	echo "$@ $$(date +%s%N)" >$@
$(patsubst $(OUT)/part.%.records.zst,$(OUT)/%.salt,$(wildcard $(OUT)/part.hit-*.records.zst)): FORCE

$(runs:=.trace.zst): $(OUT)/hit-%.trace.zst: $(OUT)/hit-%.salt
	$(prep) -o $@ prefix --hit-rate $* $${GROUPS:+--groups "$$GROUPS"} -n "$$REQUESTS" \
		--input-tokens "$$INPUT" --output-tokens "$$OUTPUT" --salt "$${SALT:-$$(cat $<)}-$*"

$(runs:=.schedule): %.schedule: %.trace.zst
	ipf-sched poisson:rate="$$RATE",for="$$FOR" -t $< --seed "$$SEED" -o $@

$(runs:=.records.zst): %.records.zst: %.schedule
	exec sh $(ipf)measure.sh $@ $(fire) -t $*.trace.zst $<

$(runs:=.results.zst): %.results.zst: %.records.zst $(OUT)/collect.set
	$(collect) -o $@ $<

$(runs:=.report.json): %.report.json: %.results.zst $(OUT)/report.set
	$(report) --trace $*.trace.zst -f json -o $@ $<

$(runs:=.report.txt): %.report.txt: %.results.zst $(OUT)/report.set
	$(report) --trace $*.trace.zst -o $@ $<

$(OUT)/cache.csv: $(runs:=.report.json)
	sh $(ipf)cache.sh $@ $(HIT_RATES)
