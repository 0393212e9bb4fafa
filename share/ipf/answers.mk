#: Are the answers right under load? One run with canaries, requests with known
#: answers, and repeated requests, both sent alone before and after the load.
#: See ipf-answers(7).
#:
#:   make -f answers.mk URL=http://localhost:8000 MODEL=llama-3.1-8b RATE=4
#:
#: Variables (a TRACE needs canaries or repeated requests of its own):
CANARIES     ?= 25%#: the share or number of canaries among the requests
REPEATS      ?= 10%#: the share or number of requests to repeat, at temperature 0; PREP_OPTIONS=--repeat-logprobs tells near ties
FOR          ?= 300s#: how long the load is measured
STAGES       ?= alone $(warmup) $(load),for=$(FOR) alone#: the stages, as ipf-sched takes them (default: alone, the load of RATE or USERS, alone)

# The folder with common.mk and the scripts. In a copy of this file, write for example /usr/local/share/ipf/
ipf   := $(dir $(lastword $(MAKEFILE_LIST)))
checks = $${CANARIES:+--canaries "$$CANARIES"} $${REPEATS:+--repeats "$$REPEATS"}
include $(ipf)run.mk
$(OUT)/trace.set: settings += CANARIES REPEATS
