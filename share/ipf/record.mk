#: Your own traffic, as a proxy recorded it: its trace and statistics, a part that
#: you can share, a model of it, and a replay with a report. See examples/record
#: for proxies that record.
#:
#:   make -f record.mk URL=http://localhost:8000 LOG=requests.jsonl
#:
#: Variables (LOG and FORMAT replace DATA and SOURCE):
LOG          ?=#: the recording: a file, or a folder of them
FORMAT       ?= auto#: its format, such as openai-log or envoy-tap; ipf-prep --list lists them
SPEED        ?= 1#: 2: twice as fast
REPLAY       ?=#: more keys of the replay, such as from=20m,idle=10s
WINDOW       ?= 1#: the windows of the time line, in seconds
ANONYMIZE_OPTIONS ?=#: more options of ipf-prep anonymize, such as --jitter 1s --k 10
PAGE         ?= 0#: 1: make a page, report.html
UPLOAD       ?=#: upload report.html, report.json and results.zst to s3://BUCKET/PATH or gs://BUCKET/PATH
PUSH_REPORT  ?=#: send the figures of the report to these Pushgateways

# The folder with common.mk and the scripts. In a copy of this file, write for example /usr/local/share/ipf/
ipf   := $(dir $(lastword $(MAKEFILE_LIST)))
needs = URL $(if $(TRACE),,LOG)
sends_nothing := shared model
override DATA   := $(value LOG)
override SOURCE := $(value FORMAT)
include $(ipf)common.mk
.PHONY: shared model
# The page is the delivered file.
page = $(if $(filter 0,$(PAGE)),$(if $(UPLOAD)$(PUSH_REPORT),$(OUT)/report.html),$(OUT)/report.html)

#: Targets:
all: trace shared model $(OUT)/report.txt $(OUT)/report.json $(page)#: all of these, and report.txt, report.json and plots of the replay
trace: $(OUT)/trace.zst $(OUT)/trace.txt#: trace.zst, and its statistics: trace.txt, with gnuplot also trace.svg
shared: $(OUT)/shared.jsonl.zst#: shared.jsonl.zst, a trace without texts and names, and shared.txt, which lists the rest
model: $(OUT)/model.json#: model.json, from which ipf-prep synthetic --like makes more such traffic
schedule: $(OUT)/schedule#: make the schedule only; nothing is sent
show:#: show the report again
	@cat $(OUT)/report.txt
report:#: report on an interrupted run
	ipf-collect $(OUT)/part.records.zst | ipf-report

# $(OUT)/trace.zst is made by a rule in common.mk.
$(OUT)/trace.txt: $(OUT)/trace.zst
	ipf-prep stat $(if $(shell command -v gnuplot),--plot $(OUT)/trace.svg) -o $@ $<

$(OUT)/model.json: $(OUT)/trace.zst
	ipf-prep fit -o $@ $<

$(OUT)/shared.set: settings = TOKENIZER ANONYMIZE_OPTIONS
$(OUT)/shared.jsonl.zst: $(OUT)/trace.zst $(OUT)/shared.set
	env -S "ipf-prep anonymize trace $$ANONYMIZE_OPTIONS" $${TOKENIZER:+-t "$$TOKENIZER"} --report $(OUT)/shared.txt -o $@ $<

$(OUT)/run.set: settings += SPEED REPLAY
$(OUT)/schedule: $(OUT)/trace.zst $(OUT)/run.set
	ipf-sched replay:speed="$$SPEED"$${REPLAY:+",$$REPLAY"} -t $< --seed "$$SEED" -o $@

$(OUT)/records.zst: $(OUT)/schedule
	exec sh $(ipf)measure.sh $@ $(fire) -t $(OUT)/trace.zst $<

$(OUT)/results.zst: $(OUT)/records.zst $(OUT)/collect.set
	$(collect) -o $@ $<

$(OUT)/report.json: $(OUT)/results.zst $(OUT)/report.set
	$(report) --trace $(OUT)/trace.zst -f json -o $@ $<

$(OUT)/report.txt: $(OUT)/results.zst $(OUT)/report.set
	$(report) --trace $(OUT)/trace.zst --plots $(OUT)/plots -o $@ $<
	@cat $@

$(OUT)/delivery.set: settings = UPLOAD PUSH_REPORT
$(OUT)/report.html: $(OUT)/report.json $(OUT)/delivery.set
	set -f; $(report) --trace $(OUT)/trace.zst -f html -o $@ $(OUT)/results.zst \
		$${UPLOAD:+--upload "$${UPLOAD%/}/report.html" --upload-file $(OUT)/report.json --upload-file $(OUT)/results.zst} \
		$${PUSH_REPORT:+$$(printf ' --push %s' $$PUSH_REPORT)}

$(OUT)/collect.set: settings += WINDOW
collect += --every "$${WINDOW}s"
