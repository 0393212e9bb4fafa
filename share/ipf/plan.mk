#: How many servers recorded traffic needs, hour by hour, by a twin of one of them:
#: nothing is sent to any server.
#:
#:   ipf-twin fit run.results.zst >server.twin.json
#:   make -f plan.mk TWIN=server.twin.json DATA=AzureLLMInferenceTrace_conv.csv \
#:     SLO=p99:ttft=2s,p90:tpot=50ms
#:
#: Variables (the trace must have arrival times):
TWIN         ?=#: the twin of a server, see ipf-twin(1)
SLO          ?= p99:ttft=2s#: objectives on percentiles
EVERY        ?= 3600#: the length of a window, in seconds
MOST         ?= 64#: replicas, at most
TRAFFIC      ?= 1#: times the recorded rate
INPUT        ?= 1#: times the recorded tokens of prompts, from 0.01 to 100
OUTPUT       ?= 1#: times the recorded tokens of answers, from 0.01 to 100
CACHE        ?= 1#: times the KV cache of the twin, which must know its size
PRICE        ?=#: the price of a replica for an hour, such as 2.5
PREDICT_OPTIONS ?=#: more options of ipf-twin predict

# The folder with common.mk and the scripts. In a copy of this file, write for example /usr/local/share/ipf/
ipf   := $(dir $(lastword $(MAKEFILE_LIST)))
needs = TWIN $(if $(TRACE),,DATA)
include $(ipf)common.mk
.PHONY: what-if

#: Targets:
all: $(OUT)/plan.txt#: plan.txt, plan.csv, plan.json, and plan.html, the report of all windows in one run
what-if: $(OUT)/what-if.txt#: the plan beside those for twice the traffic, prompts twice as long, half and twice the KV cache: what-if.txt, what-if.csv and what-if.json
trace: $(OUT)/trace.zst#: make the requests only
show:#: show the plan again
	@cat $(OUT)/plan.txt

# $(OUT)/trace.zst is made by a rule in common.mk.
$(OUT)/trace.set: settings = TRACE DATA SOURCE SEED TOKENIZER PREP_OPTIONS
$(OUT)/plan.set: settings = TWIN SLO EVERY MOST TRAFFIC INPUT OUTPUT CACHE PRICE SEED MODEL PREDICT_OPTIONS
$(OUT)/plan.txt: $(OUT)/trace.zst $(OUT)/plan.set
	exec sh $(ipf)plan.sh $@ $<

$(OUT)/what-if.txt: $(OUT)/plan.txt
	exec sh $(ipf)what-if.sh $@ $(OUT)/trace.zst
