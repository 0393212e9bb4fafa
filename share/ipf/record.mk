#: One's own traffic, as a proxy recorded it: its trace and statistics, what can be shared of it, a model of it, and a replay with the report of
#: how well it was sent. See examples/record for proxies that record.
#:
#:   make -f record.mk URL=http://localhost:8000 LOG=requests.jsonl [VARIABLE=…]
#:
#: Variables (LOG must be given; instead of DATA and SOURCE):
#:   LOG=             what was recorded: a file, or a folder of them
#:   FORMAT=auto      its format, such as openai-log or envoy-tap; ipf-prep --list lists them
#:   SPEED=1          2: twice as fast
#:   REPLAY=          more keys of the replay, such as from=20m or idle=10s
#:   WINDOW=1         the windows of the time line, in seconds
#:   ANONYMIZE_OPTIONS=
#:                    more options of ipf-prep anonymize, such as --jitter 1s --k 10
#: Targets:
#:   all              all of these, and report.txt, report.json and plots (with gnuplot) of the replay, in the folder record
#:   trace            trace.zst, and its statistics: trace.txt, with gnuplot also trace.svg
#:   shared           shared.jsonl.zst, a trace without texts and names, and shared.txt: what is left
#:   model            model.json, from which ipf-prep synthetic --like makes more such traffic
#:   schedule         only so far: nothing is sent
#:   show             show the report again
ipf_sp := $(subst x,,x x)
ipf_self := $(subst $(ipf_sp),?,$(strip $(MAKEFILE_LIST)))
ipf_main := $(if $(wildcard $(ipf_self)),record)
ipf_self := $(if $(ipf_main),$(ipf_self),$(lastword $(MAKEFILE_LIST)))
include $(subst ?,\ ,$(dir $(ipf_self)))common.mk

$(eval $(call ipf_begin,record))
ipf_record_data := $(call ipf_get,LOG)
ipf_record_prompts := $(call ipf_word,$(call ipf_get,FORMAT,auto)) $(call ipf_word,$(ipf_record_data))
ipf_record_collect := --every $(call ipf_get,WINDOW,1)s $(ipf_record_collect)
ipf_record_keys := speed=$(call ipf_get,SPEED,1) $(call ipf_get,REPLAY)
ipf_record_stage := replay:$(subst $(ipf_sp),$(ipf_comma),$(strip $(ipf_record_keys)))
ipf_record_shared := $(call ipf_option,-t,$(call ipf_get,TOKENIZER)) $(call ipf_get,ANONYMIZE_OPTIONS)
ipf_record_plot := $(if $(shell command -v gnuplot),--plot $(call ipf_word,$(ipf_record_out)/trace.svg))
$(call ipf_needs_url,record)
$(eval $(call ipf_needs,record,LOG,$(ipf_record_data)$(call ipf_get,TRACE),what was recorded$(ipf_comma) as in LOG=requests.jsonl))

$(eval $(call ipf_trace,record,,$(ipf_record_prompts) $(ipf_record_prep)))

define ipf_record_learned
$(ipf_record_dir)/trace.txt: $(ipf_record_traced)
	$(call ipf_script,step.sh) $$(call ipf_word,$$@) ipf-prep stat $(ipf_record_plot) $(call ipf_word,$(ipf_record_trace))
$(ipf_record_dir)/model.json: $(ipf_record_traced)
	$(call ipf_script,step.sh) $$(call ipf_word,$$@) ipf-prep fit $(call ipf_word,$(ipf_record_trace))
$(call ipf_setting,record,shared.set,$(ipf_record_shared))
$(ipf_record_dir)/shared.jsonl.zst: $(ipf_record_traced) $(ipf_record_dir)/shared.set
	$(call ipf_script,step.sh) $$(call ipf_word,$$@) ipf-prep anonymize trace $(call ipf_word,$(ipf_record_trace)) \
		--report $(call ipf_word,$(ipf_record_out)/shared.txt) $(ipf_record_shared)
endef
$(eval $(ipf_record_learned))

$(eval $(call ipf_schedule,record,,$(call ipf_word,$(ipf_record_stage))))
$(eval $(call ipf_records,record,,$(ipf_record_url),$(ipf_record_fire)))
$(eval $(call ipf_results,record,))
$(eval $(call ipf_reports,record,,--trace $(call ipf_word,$(ipf_record_trace)),--show,plots))

ipf_record_made := $(ipf_record_traced) $(addprefix $(ipf_record_dir)/,trace.txt shared.jsonl.zst model.json report.txt report.json)
$(eval $(call ipf_target,record,all,$(ipf_record_made) $(call ipf_delivered,record)))
$(eval $(call ipf_target,record,trace,$(ipf_record_traced) $(ipf_record_dir)/trace.txt))
$(eval $(call ipf_target,record,shared,$(ipf_record_dir)/shared.jsonl.zst))
$(eval $(call ipf_target,record,model,$(ipf_record_dir)/model.json))
$(eval $(call ipf_target,record,schedule,$(ipf_record_dir)/schedule))
$(eval $(call ipf_target,record,show))
ipf-record-show:
	@cat $(call ipf_word,$(ipf_record_out)/report.txt)
$(eval $(call ipf_help,record))
.DEFAULT_GOAL := $(if $(ipf_main),all,$(ipf_default))
