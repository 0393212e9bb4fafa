#: Recorded traffic again: every request of a trace, or of a part of it, at its
#: recorded time or faster.
#:
#:   make -f replay.mk URL=http://localhost:8000 MODEL=llama-3.1-8b \
#:     DATA=AzureLLMInferenceTrace_conv.csv
#:
#: Variables:
SPEED        ?= 1#: 2: twice as fast
RATE         ?=#: the mean rate instead; see Replays at another rate in ipf-sched(1)
FROM         ?=#: the beginning of the part of the trace that is sent, such as 20m
TO           ?=#: its end, such as 30m
FOR          ?=#: at most this long, in the time of the run
CONTINUE     ?= 1#: after an interruption, the same call sends the rest; 0: it measures anew
REPLAY       ?=#: more keys of the replay, such as idle=10s
WINDOW       ?= 1#: the windows of the time line, in seconds
PAGE         ?= 1#: make a page, report.html; 0: do not
UPLOAD       ?=#: upload report.html, report.json and results.zst to s3://BUCKET/PATH or gs://BUCKET/PATH
PUSH_REPORT  ?=#: send the figures of the report to these Pushgateways
SLO          ?=#: objectives such as p99:ttft=500ms,e2e=10s; with one, a percentile beyond it or an INVALID run ends with an error

# The folder with common.mk and the scripts. In a copy of this file, write for example /usr/local/share/ipf/
ipf   := $(dir $(lastword $(MAKEFILE_LIST)))
needs = URL $(if $(TRACE),,DATA)
include $(ipf)common.mk
# The page is the delivered file.
page = $(if $(filter 0,$(PAGE)),$(if $(UPLOAD)$(PUSH_REPORT),$(OUT)/report.html),$(OUT)/report.html)

#: Targets:
all: $(OUT)/report.txt $(OUT)/report.json $(page)#: measure and report: report.txt, report.json, report.html and plots
	@[ -z "$$SLO" ] || $(report) -q --strict -o /dev/null $(OUT)/results.zst
trace: $(OUT)/trace.zst#: make the requests only; nothing is sent
schedule: $(OUT)/schedule#: make the schedule only; nothing is sent
show:#: show the report again
	@cat $(OUT)/report.txt
report:#: report on an interrupted run
	ipf-collect $$(ls $(OUT)/cut-*.records.zst 2>/dev/null) $(OUT)/part.records.zst | ipf-report

# $(OUT)/trace.zst is made by a rule in common.mk.
keys = $${FROM:+",from=$$FROM"}$${TO:+",to=$$TO"}$${FOR:+",for=$$FOR"}$${REPLAY:+",$$REPLAY"}
$(OUT)/run.set: settings += SPEED RATE FROM TO FOR REPLAY
$(OUT)/schedule: $(OUT)/trace.zst $(OUT)/run.set
	ipf-sched replay:$(if $(RATE),rate="$$RATE",speed="$$SPEED")$(keys) -t $< --seed "$$SEED" -o $@

$(OUT)/records.zst: $(OUT)/schedule
	exec sh $(ipf)measure.sh $@ $(fire) -t $(OUT)/trace.zst $<

$(OUT)/results.zst: $(OUT)/records.zst $(OUT)/collect.set
	$(collect) -o $@ $$(ls $(OUT)/cut-*.records.zst 2>/dev/null) $<

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
