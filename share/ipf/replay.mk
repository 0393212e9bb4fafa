#: Recorded traffic again: every request of a trace, or of a part of it, at its recorded time or faster.
#:
#:   make -f replay.mk URL=http://localhost:8000 MODEL=llama-3.1-8b DATA=AzureLLMInferenceTrace_conv.csv [VARIABLE=…]
#:
#: Variables (DATA or TRACE must be given, and have arrival times):
#:   SPEED=1          2: twice as fast
#:   RATE=            the mean rate instead; see Replays at another rate in ipf-sched(1)
#:   FROM=            the part of the trace's time that is sent, such as FROM=20m TO=30m
#:   TO=
#:   FOR=             at most this long, in the time of the run
#:   REPLAY=          more keys of the replay, such as idle=10s
#:   WINDOW=1         the windows of the time line, in seconds
#: Targets:
#:   all              report.txt, report.json and plots (with gnuplot), such as plots/timeline.svg, in the folder replay
#:   trace, schedule  only so far: nothing is sent
#:   show             show the report again
ipf_sp := $(subst x,,x x)
ipf_self := $(subst $(ipf_sp),?,$(strip $(MAKEFILE_LIST)))
ipf_main := $(if $(wildcard $(ipf_self)),replay)
ipf_self := $(if $(ipf_main),$(ipf_self),$(lastword $(MAKEFILE_LIST)))
include $(subst ?,\ ,$(dir $(ipf_self)))common.mk

$(eval $(call ipf_begin,replay))
ipf_replay_collect := --every $(call ipf_get,WINDOW,1)s $(ipf_replay_collect)
ipf_replay_given := $(ipf_replay_data)$(call ipf_get,TRACE)
ipf_replay_rate  := $(call ipf_get,RATE)
ipf_replay_keys  := $(if $(ipf_replay_rate),rate=$(ipf_replay_rate),speed=$(call ipf_get,SPEED,1)) $(addprefix from=,$(call ipf_get,FROM)) \
	$(addprefix to=,$(call ipf_get,TO)) $(addprefix for=,$(call ipf_get,FOR)) $(call ipf_get,REPLAY)
ipf_replay_stage := replay:$(subst $(ipf_sp),$(ipf_comma),$(strip $(ipf_replay_keys)))
$(call ipf_needs_url,replay)
$(eval $(call ipf_needs,replay,DATA,$(ipf_replay_given),the recorded trace$(ipf_comma) as in DATA=AzureLLMInferenceTrace_conv.csv))

$(eval $(call ipf_trace,replay,,$(ipf_replay_prompts) $(ipf_replay_prep)))
$(eval $(call ipf_schedule,replay,,$(call ipf_word,$(ipf_replay_stage))))
$(eval $(call ipf_records,replay,,$(ipf_replay_url),$(ipf_replay_fire)))
$(eval $(call ipf_results,replay,))
$(eval $(call ipf_reports,replay,,--trace $(call ipf_word,$(ipf_replay_trace)),--show,plots))

$(eval $(call ipf_target,replay,all,$(addprefix $(ipf_replay_dir)/,report.txt report.json) $(call ipf_delivered,replay)))
$(eval $(call ipf_target,replay,trace,$(ipf_replay_traced)))
$(eval $(call ipf_target,replay,schedule,$(ipf_replay_dir)/schedule))
$(eval $(call ipf_target,replay,show))
ipf-replay-show:
	@cat $(call ipf_word,$(ipf_replay_out)/report.txt)
$(eval $(call ipf_help,replay))
.DEFAULT_GOAL := $(if $(ipf_main),all,$(ipf_default))
