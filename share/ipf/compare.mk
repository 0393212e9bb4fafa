#: Two servers, or two models or settings, with the same load: A B, then B A, and
#: so on, into one table.
#:
#:   make -f compare.mk URL_A=http://localhost:8000 URL_B=http://localhost:8001 \
#:     MODEL=llama-3.1-8b
#:
#: Both get the same requests at the same times, and each round changes who is
#: first, so that a drift affects both alike. Synthetic requests are new in each
#: round; those of DATA repeat. If A and B are one server that cannot reset its
#: prefix cache (CACHE_STATE), it may know the prompts of a round from the first
#: run of it.
#:
#: Variables:
URL_A        ?= $(URL)#: the server of A (default: URL)
URL_B        ?= $(URL)#: the server of B (default: URL)
MODEL_A      ?= $(MODEL)#: the model of A (default: MODEL)
MODEL_B      ?= $(MODEL)#: the model of B (default: MODEL)
FIRE_OPTIONS_A ?=#: more options of ipf-fire for A only
FIRE_OPTIONS_B ?=#: more options of ipf-fire for B only
SCRAPE_A     ?= $(SCRAPE)#: the servers whose metrics are sampled in the runs of A (default: SCRAPE)
SCRAPE_B     ?= $(SCRAPE)#: the servers whose metrics are sampled in the runs of B (default: SCRAPE)
ROUNDS       ?= 2#: how often both are measured, up to 20
RATE         ?= 4#: requests per second (Poisson arrivals)
FOR          ?= 60s#: how long the load of each run is measured
WARMUP       ?= 5s#: how long the same load is sent before that, unmeasured; 0: not at all
STAGES       ?= $(warmup) poisson:rate=$(RATE),for=$(FOR)#: the stages, as ipf-sched takes them (default: from the variables above)
UNTIL_STABLE ?=#: end each run when throughput and latency are within a limit such as 5%, at the latest after FOR; see Stability in ipf-collect(1)
COMPARE_OPTIONS ?=#: more options of ipf-report compare, such as --min-effect 5% or --fail-if 'ttft.p99 > +5%', with which make fails, also if noise leaves it open (unless --undecided pass is given): its status is 2, as always when a step fails; "Error 4" in its last line tells that it was the comparison, whose text is in difference-failed.txt

# The folder with common.mk and the scripts. In a copy of this file, write for example /usr/local/share/ipf/
ipf   := $(dir $(lastword $(MAKEFILE_LIST)))
needs = URL_A URL_B
include $(ipf)common.mk

ifneq ($(filter-out 0 0s,$(WARMUP)),)
warmup = poisson:rate=$(RATE),for=$(WARMUP),warmup
endif
rounds := $(wordlist 1,$(ROUNDS),1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20)
a := $(rounds:%=$(OUT)/a-%)
b := $(rounds:%=$(OUT)/b-%)
# A B, B A, …: make goes through this list in its order.
runs := $(foreach n,$(rounds),$(if $(filter %1 %3 %5 %7 %9,$n),$(OUT)/a-$n $(OUT)/b-$n,$(OUT)/b-$n $(OUT)/a-$n))
export RUNS := $(words $(runs))

#: Targets:
all: $(runs:=.records.zst) $(runs:=.report.json) $(a:=.report.txt) $(b:=.report.txt) $(OUT)/difference.txt#: difference.txt, difference.html and difference.json (changes from A to B, and noise), and a report for each run, such as a-1.report.txt
show:#: show the table again
	@cat $(OUT)/difference.txt

# Both runs of a round have one trace. Each round has new prompts; an interrupted one begins anew.
ifeq ($(TRACE)$(DATA),)
$(rounds:%=$(OUT)/round-%.salt): $(OUT)/trace.set $(OUT)/round.set $(OUT)/a.set $(OUT)/b.set
	echo "$@ $$(date +%s%N)" >$@
interrupted := $(wildcard $(OUT)/part.a-*.records.zst $(OUT)/part.b-*.records.zst)
$(patsubst $(OUT)/part.a-%.records.zst,$(OUT)/round-%.salt,$(interrupted:$(OUT)/part.b-%=$(OUT)/part.a-%)): FORCE
$(rounds:%=$(OUT)/round-%.trace.zst): $(OUT)/round-%.trace.zst: $(OUT)/round-%.salt
	$(prep) -o $@ $(synthetic) --salt "$${SALT:-$$(cat $<)}-$*"
else
$(rounds:%=$(OUT)/round-%.trace.zst): $(OUT)/trace.zst
	ln -sf trace.zst $@
endif

$(OUT)/round.set: settings = STAGES SEED
$(rounds:%=$(OUT)/round-%.schedule): $(OUT)/%.schedule: $(OUT)/%.trace.zst $(OUT)/round.set
	env -S "ipf-sched $$STAGES" -t $< --seed "$$SEED" -o $@

more := API CACHE_STATE FIRE_OPTIONS GPU PROMETHEUS LIVE_OPTIONS UNTIL_STABLE
$(OUT)/a.set: settings = URL_A MODEL_A FIRE_OPTIONS_A SCRAPE_A $(more)
$(a:=.records.zst): $(OUT)/a-%.records.zst: $(OUT)/round-%.schedule $(OUT)/a.set
	URL=$$URL_A MODEL=$$MODEL_A FIRE_OPTIONS="$$FIRE_OPTIONS $$FIRE_OPTIONS_A" SCRAPE=$$SCRAPE_A; \
		exec sh $(ipf)measure.sh $@ $(fire) -t $(OUT)/round-$*.trace.zst $<

$(OUT)/b.set: settings = URL_B MODEL_B FIRE_OPTIONS_B SCRAPE_B $(more)
$(b:=.records.zst): $(OUT)/b-%.records.zst: $(OUT)/round-%.schedule $(OUT)/b.set
	URL=$$URL_B MODEL=$$MODEL_B FIRE_OPTIONS="$$FIRE_OPTIONS $$FIRE_OPTIONS_B" SCRAPE=$$SCRAPE_B; \
		exec sh $(ipf)measure.sh $@ $(fire) -t $(OUT)/round-$*.trace.zst $<

$(runs:=.results.zst): %.results.zst: %.records.zst $(OUT)/collect.set
	$(collect) -o $@ $<

$(runs:=.report.json): %.report.json: %.results.zst $(OUT)/report.set
	$(report) -f json -o $@ $<

$(runs:=.report.txt): %.report.txt: %.results.zst $(OUT)/report.set
	$(report) -o $@ $<

$(OUT)/difference.set: settings = COMPARE_OPTIONS
$(OUT)/difference.txt: $(a:=.results.zst) $(b:=.results.zst) $(OUT)/difference.set
	sh $(ipf)difference.sh $@ $(rounds)
