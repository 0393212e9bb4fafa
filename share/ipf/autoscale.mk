#: What an autoscaler does: a base load, a spike, the base load again, and a ramp, with the time line of rate and latency.
#:
#:   make -f autoscale.mk URL=http://localhost:8000 MODEL=llama-3.1-8b BASE=2 PEAK=20 [VARIABLE=…]
#:
#: Variables:
#:   BASE=2           requests per second before, between and after
#:   PEAK=20          requests per second of the spike, and at the end of the ramp
#:   CALM=2m          how long the base load lasts each time
#:   SPIKE=1m         how long the spike lasts
#:   RAMP=5m          how long the ramp lasts
#:   STAGES=          stages as ipf-sched takes them, instead of these
#:   WINDOW=1         the windows of the time line, in seconds
#: Targets:
#:   all              report.txt, report.json and plots (with gnuplot), such as plots/timeline.svg, in the folder autoscale
#:   trace, schedule  only so far: nothing is sent
#:   show             show the report again
ipf_sp := $(subst x,,x x)
ipf_self := $(subst $(ipf_sp),?,$(strip $(MAKEFILE_LIST)))
ipf_main := $(if $(wildcard $(ipf_self)),autoscale)
ipf_self := $(if $(ipf_main),$(ipf_self),$(lastword $(MAKEFILE_LIST)))
include $(subst ?,\ ,$(dir $(ipf_self)))common.mk

$(eval $(call ipf_begin,autoscale))
ipf_autoscale_collect := --every $(call ipf_get,WINDOW,1)s $(ipf_autoscale_collect)
ipf_autoscale_base   := $(call ipf_get,BASE,2)
ipf_autoscale_peak   := $(call ipf_get,PEAK,20)
ipf_autoscale_calm   := poisson:rate=$(ipf_autoscale_base),for=$(call ipf_get,CALM,2m)
ipf_autoscale_stages := $(or $(call ipf_get,STAGES),$(ipf_autoscale_calm)$(ipf_comma)name=base-1 \
	poisson:rate=$(ipf_autoscale_peak)$(ipf_comma)for=$(call ipf_get,SPIKE,1m)$(ipf_comma)name=spike \
	$(ipf_autoscale_calm)$(ipf_comma)name=base-2 \
	ramp:from=$(ipf_autoscale_base)$(ipf_comma)to=$(ipf_autoscale_peak)$(ipf_comma)for=$(call ipf_get,RAMP,5m)$(ipf_comma)name=ramp \
	$(ipf_autoscale_calm)$(ipf_comma)name=base-3)
$(call ipf_needs_url,autoscale)

$(eval $(call ipf_trace,autoscale,,$(ipf_autoscale_prompts) $(ipf_autoscale_prep)))
$(eval $(call ipf_schedule,autoscale,,$(ipf_autoscale_stages)))
$(eval $(call ipf_records,autoscale,,$(ipf_autoscale_url),$(ipf_autoscale_fire)))
$(eval $(call ipf_results,autoscale,))
$(eval $(call ipf_reports,autoscale,,,--show,plots))

$(eval $(call ipf_target,autoscale,all,$(addprefix $(ipf_autoscale_dir)/,report.txt report.json) $(call ipf_delivered,autoscale)))
$(eval $(call ipf_target,autoscale,trace,$(ipf_autoscale_traced)))
$(eval $(call ipf_target,autoscale,schedule,$(ipf_autoscale_dir)/schedule))
$(eval $(call ipf_target,autoscale,show))
ipf-autoscale-show:
	@cat $(call ipf_word,$(ipf_autoscale_out)/report.txt)
$(eval $(call ipf_help,autoscale))
.DEFAULT_GOAL := $(if $(ipf_main),all,$(ipf_default))
