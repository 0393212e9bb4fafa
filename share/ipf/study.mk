#: A whole study: each model on each server under each load, with one table of all.
#:
#:   make -f study.mk SERVERS='old=http://gpu1:8000 new=http://gpu2:8000' \
#:     MODELS=llama-3.1-8b LOADS='2 4 8'
#:
#: Each cell is a run of run.mk, in the folder study/MODEL/SERVER/LOAD, one after
#: another. A failed cell is named in the table and does not end the study; the
#: next call tries it again. A cell that is added later is measured, and no other.
#: Each model and load has its own prompts, the same ones for each server.
#:
#: Variables (the list of any of the three may have one entry):
SERVERS      ?= $(URL)#: the servers, as [NAME=]URL (default: URL)
MODELS       ?= $(MODEL)#: the models, as [NAME=]MODEL; %20 is a space (default: MODEL)
LOADS        ?= $(RATE)#: the loads: requests per second, or names of which STAGES_NAME is given (default: RATE)
RATE         ?= 4#: the load if there is only one
STAGES_NAME  ?=#: the stages of the load NAME, as ipf-sched takes them; without them, NAME is a rate (Poisson arrivals)
FOR          ?= 60s#: how long a rate is measured
WARMUP       ?= 5s#: how long the same load is sent before that, unmeasured; 0: not at all
UNTIL_STABLE ?=#: end each run when throughput and latency are within a limit such as 5%, at the latest after its stages; see Stability in ipf-collect(1)
FIRE_OPTIONS_NAME ?=#: more options of ipf-fire for the server NAME
SCRAPE_NAME  ?=#: the servers whose metrics are sampled in runs on the server NAME (default: SCRAPE)
TOKENIZER_NAME ?=#: the tokenizer of the model NAME (default: TOKENIZER)

# The folder with common.mk and the scripts. In a copy of this file, write for example /usr/local/share/ipf/
ipf   := $(dir $(lastword $(MAKEFILE_LIST)))
needs = $(if $(SERVERS),,URL)
include $(ipf)common.mk

#: Targets:
all: $(OUT)/salt#: study.txt, study.csv, study.md, index.html (the table, which leads to the page of each cell), study.sql (all cells, for SQLite and PostgreSQL, see ipf-exports(5)) and all cells
	exec sh $(ipf)study.sh $(OUT) $(ipf)run.mk
show:#: show the table again
	@cat $(OUT)/study.txt

# The prompts change with these; more models, servers and loads leave the existing ones alone.
$(OUT)/run.set: settings = API CACHE_STATE FIRE_OPTIONS SCRAPE GPU PROMETHEUS LIVE_OPTIONS UNTIL_STABLE SEED FOR WARMUP
