#: One run at a given load, and its reports.
#:
#:   make -f run.mk URL=http://localhost:8000 MODEL=llama-3.1-8b [DATA=chat.json] [VARIABLE=…]
#:
#: Variables:
#:   RATE=4           requests per second (Poisson arrivals)
#:   USERS=           a closed loop of so many users instead; they begin one after another over WARMUP
#:   FOR=60s          how long they are sent
#:   UNTIL_STABLE=    end the run when throughput and latency are within a limit such as 5%, at the latest after FOR; see
#:                    Stability in ipf-collect(1)
#:   WARMUP=5s        how long before that the same load is sent unmeasured; 0 for none
#:   STAGES=          stages as ipf-sched takes them, instead of these three
#:   SHOW=1           show the report when it is made; 0: do not
#:   PAGE=1           make a page of it, report.html, with its plots (by gnuplot); 0: do not
#: Targets:
#:   all              trace.zst, schedule, records.zst, results.zst, report.txt, report.json, report.html and plots, in the folder run
#:   trace, schedule  only so far: nothing is sent
#:   show             show the report again
ipf_sp := $(subst x,,x x)
ipf_self := $(subst $(ipf_sp),?,$(strip $(MAKEFILE_LIST)))
ipf_main := $(if $(wildcard $(ipf_self)),run)
ipf_self := $(if $(ipf_main),$(ipf_self),$(lastword $(MAKEFILE_LIST)))
include $(subst ?,\ ,$(dir $(ipf_self)))common.mk

$(eval $(call ipf_begin,run))
ipf_run_ends := $(call ipf_option,--until-stable,$(call ipf_get,UNTIL_STABLE))
ipf_run_rate   := $(call ipf_get,RATE,4)
ipf_run_warmup := $(filter-out 0 0s,$(call ipf_get,WARMUP,5s))
ipf_run_users  := $(call ipf_get,USERS)
ipf_run_load   := $(if $(ipf_run_users),closed:users=$(ipf_run_users),poisson:rate=$(ipf_run_rate))$(ipf_comma)for=
# The measured stage takes over the users of the warm-up, so that they do not begin it all at once.
ipf_run_begin  := $(if $(ipf_run_warmup),$(ipf_run_load)$(ipf_run_warmup)$(if $(ipf_run_users),$(ipf_comma)rampup=$(ipf_run_warmup))$(ipf_comma)warmup)
ipf_run_stages := $(call ipf_get,STAGES,$(ipf_run_begin) $(ipf_run_load)$(call ipf_get,FOR,60s))
$(call ipf_needs_url,run)

$(eval $(call ipf_trace,run,,$(ipf_run_prompts) $(ipf_run_prep)))
$(eval $(call ipf_schedule,run,,$(ipf_run_stages)))
$(eval $(call ipf_records,run,,$(ipf_run_url),$(ipf_run_fire)))
$(eval $(call ipf_results,run,))
$(eval $(call ipf_reports,run,,,$(if $(filter 0,$(call ipf_get,SHOW,1)),,--show),plots))

$(eval $(call ipf_target,run,all,$(ipf_run_dir)/report.txt $(ipf_run_dir)/report.json $(call ipf_paged,run,$(call ipf_get,PAGE,1))))
$(eval $(call ipf_target,run,trace,$(ipf_run_traced)))
$(eval $(call ipf_target,run,schedule,$(ipf_run_dir)/schedule))
$(eval $(call ipf_target,run,show))
ipf-run-show:
	@cat $(call ipf_word,$(ipf_run_out)/report.txt)
$(eval $(call ipf_help,run))
.DEFAULT_GOAL := $(if $(ipf_main),all,$(ipf_default))
