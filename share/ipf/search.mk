#: The highest load at which a server meets objectives, by a search: stages at one
#: rate after another, until the answer is known.
#:
#:   make -f search.mk URL=http://localhost:8000 MODEL=llama-3.1-8b \
#:     SLO=p99:ttft=500ms,p90:tpot=50ms
#:
#: Variables:
SLO          ?= p99:ttft=500ms#: the objectives, as in Searching in ipf-sched(1)
LOW          ?= 1#: the lowest rate, in requests per second
HIGH         ?= 100#: the highest rate
FOR          ?= 60s#: how long each rate is measured
SEARCH       ?=#: more keys of the search, such as precision=10%,most=20 or users
RAMPUP       ?= 5s#: with users or sessions in SEARCH: they begin one after another over this time; 0: all at once

# The folder with common.mk and the scripts. In a copy of this file, write for example /usr/local/share/ipf/
ipf   := $(dir $(lastword $(MAKEFILE_LIST)))
needs = URL
include $(ipf)common.mk

comma := ,
loop   = $(filter users sessions,$(subst $(comma), ,$(SEARCH)))
rampup = $(if $(loop),$(if $(findstring rampup=,$(SEARCH)),,$(if $(filter-out 0 0s,$(RAMPUP)),$${RAMPUP:+",rampup=$$RAMPUP"})))
stage  = search:slo="$$SLO",low="$$LOW",high="$$HIGH",for="$$FOR"$${SEARCH:+",$$SEARCH"}$(rampup)

#: Targets:
all: $(OUT)/answer.txt#: answer.txt and search.csv, with a row for each stage
trace: $(OUT)/trace.zst#: make the requests only; nothing is sent
show:#: show the answer again
	@cat $(OUT)/search.csv $(OUT)/answer.txt

# $(OUT)/trace.zst is made by a rule in common.mk.
$(OUT)/run.set: settings += SLO LOW HIGH FOR SEARCH RAMPUP
$(OUT)/answer.txt: $(OUT)/trace.zst $(OUT)/run.set $(OUT)/collect.set
	exec sh $(ipf)search.sh $@ $< $(stage) $(fire)
