#: The latency-throughput curve of a server: its sustained rate, a sweep up to
#: that, and a report with the curve.
#:
#:   make -f profile.mk URL=http://localhost:8000 MODEL=llama-3.1-8b
#:
#: First the server gets a burst of requests, more than it can answer at once. If
#: these are too few to tell its sustained rate, twice as many follow, and so on.
#: Then a sweep measures rates from a tenth of it to somewhat more than it.
#:
#: Variables:
BURST        ?= 256#: requests of the first burst
MOST         ?= 16384#: most requests of a burst: if they do not suffice, make ends with an error
IN_FLIGHT    ?= 1024#: most requests of a burst at a time
FOR          ?= 60s#: how long each rate of the sweep is measured
POINTS       ?= 10#: the number of rates
UPTO         ?= 1.2#: the highest rate, in sustained rates
REST         ?= 5s#: the pause between rates
PAGE         ?= 1#: make a page, report.html; 0: do not
UPLOAD       ?=#: upload report.html, report.json and results.zst to s3://BUCKET/PATH or gs://BUCKET/PATH
PUSH_REPORT  ?=#: send the figures of the report to these Pushgateways
SLO          ?=#: objectives such as p99:ttft=500ms,e2e=10s; the report then has the highest rate that meets them

# The folder with common.mk and the scripts. In a copy of this file, write for example /usr/local/share/ipf/
ipf   := $(dir $(lastword $(MAKEFILE_LIST)))
needs = URL
include $(ipf)common.mk
.PHONY: saturate
# The page is the delivered file.
page = $(if $(filter 0,$(PAGE)),$(if $(UPLOAD)$(PUSH_REPORT),$(OUT)/report.html),$(OUT)/report.html)

#: Targets:
all: $(OUT)/report.txt $(OUT)/report.json $(OUT)/curve.csv $(page)#: measure and report: report.txt, report.json, report.html, curve.csv and plots
trace: $(OUT)/trace.zst#: make the requests only; nothing is sent
saturate: $(OUT)/saturate.results.zst#: only the bursts
show:#: show the report again
	@cat $(OUT)/report.txt
report:#: report on an interrupted run
	ipf-collect $(OUT)/part.records.zst | ipf-report

# $(OUT)/trace.zst is made by a rule in common.mk. Bursts are sent until ipf-sched accepts the results of one.
$(OUT)/run.set: settings += BURST MOST IN_FLIGHT
$(OUT)/saturate.results.zst: $(OUT)/trace.zst $(OUT)/run.set $(OUT)/collect.set
	exec sh $(ipf)saturate.sh $@ $< $(fire)

$(OUT)/schedule.set: settings = FOR POINTS UPTO REST SEED
$(OUT)/schedule: $(OUT)/saturate.results.zst $(OUT)/schedule.set
	ipf-sched sweep:from=$<,for="$$FOR",points="$$POINTS",upto="$$UPTO",rest="$$REST" -t $(OUT)/trace.zst --seed "$$SEED" -o $@

$(OUT)/records.zst: $(OUT)/schedule
	exec sh $(ipf)measure.sh $@ $(fire) -t $(OUT)/trace.zst $<

$(OUT)/results.zst: $(OUT)/records.zst $(OUT)/collect.set
	$(collect) -o $@ $<

$(OUT)/report.json: $(OUT)/results.zst $(OUT)/report.set
	$(report) -f json -o $@ $<

$(OUT)/report.txt: $(OUT)/results.zst $(OUT)/report.set
	$(report) --plots $(OUT)/plots -o $@ $<
	@cat $@

$(OUT)/curve.csv: $(OUT)/results.zst $(OUT)/report.set
	$(report) -f csv --curve -o $@ $<

$(OUT)/delivery.set: settings = UPLOAD PUSH_REPORT
$(OUT)/report.html: $(OUT)/report.json $(OUT)/delivery.set
	set -f; $(report) -f html -o $@ $(OUT)/results.zst \
		$${UPLOAD:+--upload "$${UPLOAD%/}/report.html" --upload-file $(OUT)/report.json --upload-file $(OUT)/results.zst} \
		$${PUSH_REPORT:+$$(printf ' --push %s' $$PUSH_REPORT)}
