#: How much load a server takes while it meets objectives: one line, within a
#: stated time.
#:
#:   make -f capacity.mk URL=http://localhost:8000 MODEL=llama-3.1-8b \
#:     SLO=p99:ttft=500ms,p90:tpot=50ms
#:
#: Short stages at rising load find one that misses the objectives; longer stages
#: near the limit follow. An interrupted call goes on where it was, and so does one
#: with more time.
#:
#: Variables:
SLO          ?= p99:ttft=500ms#: the objectives, as in Searching in ipf-sched(1)
TIME         ?= 5m#: the time of all stages; more time makes the answer more exact
FIND         ?= rate#: the load to find: a rate of requests, users, or concurrency (requests in flight), of a closed loop
LOW          ?=#: the lowest load to consider
HIGH         ?=#: the highest load to consider
NEW_PROMPTS  ?= 1#: each stage begins its prompts differently, so that no prefix cache knows them; 0: as they are in the trace
SEARCH       ?=#: more keys of the search, such as precision=10%,process=constant

# The folder with common.mk and the scripts. In a copy of this file, write for example /usr/local/share/ipf/
ipf   := $(dir $(lastword $(MAKEFILE_LIST)))
needs = URL
include $(ipf)common.mk

comma := ,
find  = $(if $(filter-out rate,$(FIND)),$(comma)"$$FIND")
# Without TIME, SEARCH has for= and LOW and HIGH are needed.
stage = search:slo="$$SLO"$${TIME:+",time=$$TIME"}$${LOW:+",low=$$LOW"}$${HIGH:+",high=$$HIGH"}$(find)$${SEARCH:+",$$SEARCH"}

#: Targets:
all: $(OUT)/answer.txt#: answer.txt and stages.csv, with a row for each stage
trace: $(OUT)/trace.zst#: make the requests only; nothing is sent
show:#: show the answer again
	@cat $(OUT)/stages.csv $(OUT)/answer.txt

# $(OUT)/trace.zst is made by a rule in common.mk.
# Stages count for other objectives, bounds and times too.
$(OUT)/run.set: settings += FIND NEW_PROMPTS
$(OUT)/search.set: settings = SLO TIME LOW HIGH SEARCH
$(OUT)/answer.txt: $(OUT)/trace.zst $(OUT)/run.set $(OUT)/search.set $(OUT)/collect.set
	exec sh $(ipf)capacity.sh $@ $< $(stage) $(fire)
