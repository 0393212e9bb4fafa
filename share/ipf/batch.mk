#: A batch: all requests are handed over at once, and the server answers when it
#: has time (OpenAI's Files and Batches: /v1/files, /v1/batches).
#:
#:   make -f batch.mk URL=https://api.openai.com MODEL=gpt-4.1-mini
#:
#: The measure is the makespan: from handing over to the last answer. After an
#: interruption, the next call goes on waiting; it does not submit again.
#:
#: Variables:
REQUESTS     ?= 1000#: the number of synthetic requests
ENDPOINT     ?= /v1/chat/completions#: the endpoint of each request: also /v1/completions and /v1/embeddings
WINDOW       ?= 24h#: the completion window that is asked for
POLL         ?= 5#: seconds between two questions for the status; the makespan by our clock is exact to this
TIMEOUT      ?= 86400#: seconds after which the status is not asked for any more
KEY_ENV      ?= OPENAI_API_KEY#: the environment variable with the API key
PRICE        ?=#: the price of a million input tokens and of a million output tokens, as in 0.2,0.8

# The folder with common.mk and the scripts. In a copy of this file, write for example /usr/local/share/ipf/
ipf   := $(dir $(lastword $(MAKEFILE_LIST)))
needs = URL
include $(ipf)common.mk

#: Targets:
all: $(OUT)/report.txt#: report.txt, report.json, and the answers (outputs.jsonl, errors.jsonl)
trace: $(OUT)/trace.zst#: make the requests only; nothing is sent
show:#: show report.txt again
	@cat $(OUT)/report.txt

# $(OUT)/trace.zst is made by a rule in common.mk.
$(OUT)/run.set: settings = URL WINDOW
$(OUT)/requests.set: settings = ENDPOINT MODEL
$(OUT)/requests.jsonl: $(OUT)/trace.zst $(OUT)/requests.set
	exec sh $(ipf)batch.sh render $@ $<

$(OUT)/submitted.json: $(OUT)/requests.jsonl $(OUT)/run.set
	exec sh $(ipf)batch.sh submit $@ $<

$(OUT)/batch.json: $(OUT)/submitted.json
	exec sh $(ipf)batch.sh follow $@ $<

$(OUT)/report.set: settings = PRICE
$(OUT)/report.txt: $(OUT)/batch.json $(OUT)/report.set
	exec sh $(ipf)batch.sh report $@
