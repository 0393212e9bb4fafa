#: One run at a given load, and its reports.
#:
#:   make -f run.mk URL=http://localhost:8000 MODEL=llama-3.1-8b RATE=4
#:
#: Variables:
RATE         ?= 4#: requests per second (Poisson arrivals)
USERS        ?=#: a closed loop of this many users instead; they begin one after another over WARMUP
FOR          ?= 60s#: how long the load is measured
WARMUP       ?= 5s#: how long the same load is sent before that, unmeasured; 0: not at all
STAGES       ?= $(warmup) $(load),for=$(FOR)#: the stages, as ipf-sched takes them (default: a Poisson process or a closed loop, from the variables above)
UNTIL_STABLE ?=#: end the run when throughput and latency are within a limit such as 5%, at the latest after FOR; see Stability in ipf-collect(1)
SHOW         ?= 1#: show the report when it is made; 0: do not
PAGE         ?= 1#: make a page, report.html; 0: do not
UPLOAD       ?=#: upload report.html, report.json and results.zst to s3://BUCKET/PATH or gs://BUCKET/PATH
PUSH_REPORT  ?=#: send the figures of the report to these Pushgateways
SLO          ?=#: objectives such as p99:ttft=500ms,e2e=10s; with one, a percentile beyond it or an INVALID run ends with an error

# The folder with common.mk and the scripts. In a copy of this file, write for example /usr/local/share/ipf/
ipf   := $(dir $(lastword $(MAKEFILE_LIST)))
needs = URL
include $(ipf)common.mk

ifneq ($(USERS),)
load   = closed:users=$(USERS)
# The measured stage takes over the users of the warm-up.
rampup = ,rampup=$(WARMUP)
else
load   = poisson:rate=$(RATE)
endif
ifneq ($(filter-out 0 0s,$(WARMUP)),)
warmup = $(load),for=$(WARMUP)$(rampup),warmup
endif
# The page is the delivered file.
page = $(if $(filter 0,$(PAGE)),$(if $(UPLOAD)$(PUSH_REPORT),$(OUT)/report.html),$(OUT)/report.html)

#: Targets:
all: $(OUT)/report.txt $(OUT)/report.json $(page)#: measure and report: report.txt, report.json, report.html and plots
	@[ -z "$$SLO" ] || $(report) -q --strict -o /dev/null $(OUT)/results.zst
measure: $(OUT)/results.zst#: measure only; the results are OUT/results.zst
trace: $(OUT)/trace.zst#: make the requests only; nothing is sent
schedule: $(OUT)/schedule#: make the schedule only; nothing is sent
show:#: show the report again
	@cat $(OUT)/report.txt
report:#: report on an interrupted run
	ipf-collect $(OUT)/part.records.zst | ipf-report

# $(OUT)/trace.zst is made by a rule in common.mk.
$(OUT)/schedule: $(OUT)/trace.zst $(OUT)/run.set
	env -S "ipf-sched $$STAGES" -t $< --seed "$$SEED" -o $@

# exec: a signal to make ends the run in order.
$(OUT)/records.zst: $(OUT)/schedule
	exec sh $(ipf)measure.sh $@ $(fire) -t $(OUT)/trace.zst $<

$(OUT)/results.zst: $(OUT)/records.zst $(OUT)/collect.set
	$(collect) -o $@ $<

$(OUT)/report.json: $(OUT)/results.zst $(OUT)/report.set
	$(report) -f json -o $@ $<

$(OUT)/report.txt: $(OUT)/results.zst $(OUT)/report.set
	$(report) --plots $(OUT)/plots -o $@ $<
	@[ "$$SHOW" = 0 ] || cat $@

$(OUT)/delivery.set: settings = UPLOAD PUSH_REPORT
$(OUT)/report.html: $(OUT)/report.json $(OUT)/delivery.set
	set -f; $(report) -f html -o $@ $(OUT)/results.zst \
		$${UPLOAD:+--upload "$${UPLOAD%/}/report.html" --upload-file $(OUT)/report.json --upload-file $(OUT)/results.zst} \
		$${PUSH_REPORT:+$$(printf ' --push %s' $$PUSH_REPORT)}
