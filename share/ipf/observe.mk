#: The latencies of users today, from a capture of production traffic: a report,
#: and a trace to replay. Nothing is sent. See ipf-capture(7).
#:
#:   tcpdump -i any -w prod.pcap 'tcp port 8000'
#:   make -f observe.mk CAPTURE=prod.pcap
#:
#: Variables (CAPTURE replaces DATA and SOURCE; PREP_OPTIONS such as --port 8000):
CAPTURE      ?=#: the capture: a pcap or pcapng file
KEYLOG       ?=#: the keys of TLS connections, as in SSLKEYLOGFILE
SLO          ?=#: objectives such as p99:ttft=500ms,e2e=10s; with one, a percentile beyond it ends with an error
SHOW         ?= 1#: show the report when it is made; 0: do not
ANONYMIZE_OPTIONS ?=#: more options of ipf-prep anonymize, such as --jitter 1s --k 10

# The folder with common.mk and the scripts. In a copy of this file, write for example /usr/local/share/ipf/
ipf   := $(dir $(lastword $(MAKEFILE_LIST)))
needs = CAPTURE
sends_nothing := shared
override DATA   := $(value CAPTURE)
override SOURCE := capture
include $(ipf)common.mk
.PHONY: shared

#: Targets:
all: $(OUT)/report.txt $(OUT)/report.json $(OUT)/report.html#: report.txt, report.json, report.html, plots; beside them trace.zst, to replay with replay.mk
	@[ -z "$$SLO" ] || $(report) -q --strict -o /dev/null $(OUT)/results.zst
trace: $(OUT)/records.zst#: trace.zst and records.zst alone
shared: $(OUT)/shared.jsonl.zst#: shared.jsonl.zst, a trace without texts and names, and shared.txt, which lists the rest; no text is written
show:#: show the report again
	@cat $(OUT)/report.txt

keys = $${KEYLOG:+--keylog "$$KEYLOG"}
$(OUT)/capture.set: settings = DATA TOKENIZER PREP_OPTIONS KEYLOG SEED
$(OUT)/records.zst: $(OUT)/capture.set
	$(prep) capture "$$CAPTURE" $(keys) --records $@ -o $(OUT)/trace.zst

$(OUT)/shared.set: settings = DATA TOKENIZER KEYLOG ANONYMIZE_OPTIONS
$(OUT)/shared.jsonl.zst: $(OUT)/shared.set
	env -S "ipf-prep anonymize capture $$ANONYMIZE_OPTIONS" "$$CAPTURE" $(keys) $${TOKENIZER:+-t "$$TOKENIZER"} --report $(OUT)/shared.txt -o $@

$(OUT)/results.zst: $(OUT)/records.zst $(OUT)/collect.set
	$(collect) -o $@ $<

$(OUT)/report.json: $(OUT)/results.zst $(OUT)/report.set
	$(report) -f json -o $@ $<

$(OUT)/report.txt: $(OUT)/results.zst $(OUT)/report.set
	$(report) --plots $(OUT)/plots -o $@ $<
	@[ "$$SHOW" = 0 ] || cat $@

$(OUT)/report.html: $(OUT)/report.json
	$(report) -f html -o $@ $(OUT)/results.zst
