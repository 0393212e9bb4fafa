#: The reaction of an autoscaler: a base load, a spike, the base load again, and a
#: ramp, with the time line of rate and latency.
#:
#:   make -f autoscale.mk URL=http://localhost:8000 MODEL=llama-3.1-8b \
#:     BASE=2 PEAK=20
#:
#: Variables:
BASE         ?= 2#: requests per second before, between and after
PEAK         ?= 20#: requests per second of the spike, and at the end of the ramp
CALM         ?= 2m#: how long the base load lasts each time
SPIKE        ?= 1m#: how long the spike lasts
RAMP         ?= 5m#: how long the ramp lasts
STAGES       ?= $(stages)#: the stages, as ipf-sched takes them (default: from the variables above)
WINDOW       ?= 1#: the windows of the time line, in seconds
PAGE         ?= 0#: 1: make a page, report.html
UPLOAD       ?=#: upload report.html, report.json and results.zst to s3://BUCKET/PATH or gs://BUCKET/PATH
PUSH_REPORT  ?=#: send the figures of the report to these Pushgateways
SLO          ?=#: objectives such as p99:ttft=500ms,e2e=10s; the report judges them

# The folder with common.mk and the scripts. In a copy of this file, write for example /usr/local/share/ipf/
ipf   := $(dir $(lastword $(MAKEFILE_LIST)))
needs = URL
include $(ipf)common.mk

calm   = poisson:rate=$(BASE),for=$(CALM)
stages = $(calm),name=base-1 poisson:rate=$(PEAK),for=$(SPIKE),name=spike $(calm),name=base-2 \
	ramp:from=$(BASE),to=$(PEAK),for=$(RAMP),name=ramp $(calm),name=base-3
# The page is the delivered file.
page = $(if $(filter 0,$(PAGE)),$(if $(UPLOAD)$(PUSH_REPORT),$(OUT)/report.html),$(OUT)/report.html)

#: Targets:
all: $(OUT)/report.txt $(OUT)/report.json $(page)#: measure and report: report.txt, report.json, and plots such as plots/timeline.svg
trace: $(OUT)/trace.zst#: make the requests only; nothing is sent
schedule: $(OUT)/schedule#: make the schedule only; nothing is sent
show:#: show the report again
	@cat $(OUT)/report.txt
report:#: report on an interrupted run
	ipf-collect $(OUT)/part.records.zst | ipf-report

# $(OUT)/trace.zst is made by a rule in common.mk.
$(OUT)/schedule: $(OUT)/trace.zst $(OUT)/run.set
	env -S "ipf-sched $$STAGES" -t $< --seed "$$SEED" -o $@

$(OUT)/records.zst: $(OUT)/schedule
	exec sh $(ipf)measure.sh $@ $(fire) -t $(OUT)/trace.zst $<

$(OUT)/results.zst: $(OUT)/records.zst $(OUT)/collect.set
	$(collect) -o $@ $<

$(OUT)/report.json: $(OUT)/results.zst $(OUT)/report.set
	$(report) -f json -o $@ $<

$(OUT)/report.txt: $(OUT)/results.zst $(OUT)/report.set
	$(report) --plots $(OUT)/plots -o $@ $<
	@cat $@

$(OUT)/delivery.set: settings = UPLOAD PUSH_REPORT
$(OUT)/report.html: $(OUT)/report.json $(OUT)/delivery.set
	set -f; $(report) -f html -o $@ $(OUT)/results.zst \
		$${UPLOAD:+--upload "$${UPLOAD%/}/report.html" --upload-file $(OUT)/report.json --upload-file $(OUT)/results.zst} \
		$${PUSH_REPORT:+$$(printf ' --push %s' $$PUSH_REPORT)}

$(OUT)/collect.set: settings += WINDOW
collect += --every "$${WINDOW}s"
