#: The latency-throughput curve of a server: what it can sustain, a sweep up to that, and a report with the curve.
#:
#:   make -f profile.mk URL=http://localhost:8000 MODEL=llama-3.1-8b [DATA=chat.json] [VARIABLE=…]
#:
#: First the server gets a burst of requests, more than it can answer at once. If that was too few to tell its sustained rate, twice
#: as many follow, and so on. Then a sweep measures rates from a tenth of that rate to somewhat more than it.
#:
#: Variables:
#:   BURST=256        requests of the first burst
#:   MOST=16384       most requests of a burst: if they do not suffice, make ends with an error
#:   IN_FLIGHT=1024   most requests of a burst at a time
#:   FOR=60s          how long each rate of the sweep is measured
#:   POINTS=10        the number of rates
#:   UPTO=1.2         the highest rate, in sustained rates
#:   REST=5s          the pause between rates
#:   PAGE=1           make a page of the report, report.html, with its plots (by gnuplot); 0: do not
#: Targets:
#:   all              report.txt, report.json, report.html, curve.csv and plots (with gnuplot), such as plots/rate-ttft.svg, in the folder profile
#:   trace            only the requests: nothing is sent
#:   saturate         only the bursts
#:   show             show the report again
ipf_sp := $(subst x,,x x)
ipf_self := $(subst $(ipf_sp),?,$(strip $(MAKEFILE_LIST)))
ipf_main := $(if $(wildcard $(ipf_self)),profile)
ipf_self := $(if $(ipf_main),$(ipf_self),$(lastword $(MAKEFILE_LIST)))
include $(subst ?,\ ,$(dir $(ipf_self)))common.mk

$(eval $(call ipf_begin,profile))
ipf_profile_saturated := $(ipf_profile_out)/saturate.results.zst
ipf_profile_bursts    := $(call ipf_get,BURST,256) $(call ipf_get,MOST,16384) $(call ipf_get,IN_FLIGHT,1024)
ipf_profile_sweep     := for=$(call ipf_get,FOR,60s),points=$(call ipf_get,POINTS,10),upto=$(call ipf_get,UPTO,1.2),rest=$(call ipf_get,REST,5s)
$(call ipf_needs_url,profile)

$(eval $(call ipf_trace,profile,,$(ipf_profile_prompts) $(ipf_profile_prep)))

# The bursts, one after another, until ipf-sched accepts the results of one.
$(eval $(call ipf_setting,profile,saturate.set,$(ipf_profile_bursts) $(ipf_profile_seed) $(ipf_profile_url) $(ipf_profile_fire)$(call ipf_more,$(ipf_profile_sampled))))
define ipf_profile_saturate
$(ipf_profile_dir)/saturate.results.zst: $(ipf_profile_traced) $(ipf_profile_dir)/saturate.set
	$(call ipf_script,saturate.sh) $$(call ipf_word,$$@) $(call ipf_word,$(ipf_profile_trace)) $(ipf_profile_bursts) \
		$(ipf_profile_seed) $(call ipf_word,$(ipf_profile_url)) $(call ipf_word,$(ipf_profile_collect)) $(ipf_profile_fire) $(ipf_profile_live)
$(ipf_profile_dir)/schedule: $(ipf_profile_dir)/saturate.results.zst
endef
$(eval $(ipf_profile_saturate))

$(eval $(call ipf_schedule,profile,,$(call ipf_word,sweep:from=$(ipf_profile_saturated)$(ipf_comma)$(ipf_profile_sweep))))
$(eval $(call ipf_records,profile,,$(ipf_profile_url),$(ipf_profile_fire)))
$(eval $(call ipf_results,profile,))
$(eval $(call ipf_reports,profile,,,--show,plots))
define ipf_profile_curve
$(ipf_profile_dir)/curve.csv: $(ipf_profile_dir)/results.zst $(ipf_profile_dir)/report.set
	$(call ipf_script,step.sh) $$(call ipf_word,$$@) ipf-report -f csv --curve $(ipf_profile_report) $(call ipf_word,$(ipf_profile_out)/results.zst)
endef
$(eval $(ipf_profile_curve))

$(eval $(call ipf_target,profile,all,$(addprefix $(ipf_profile_dir)/,report.txt report.json curve.csv) $(call ipf_paged,profile,$(call ipf_get,PAGE,1))))
$(eval $(call ipf_target,profile,trace,$(ipf_profile_traced)))
$(eval $(call ipf_target,profile,saturate,$(ipf_profile_dir)/saturate.results.zst))
$(eval $(call ipf_target,profile,show))
ipf-profile-show:
	@cat $(call ipf_word,$(ipf_profile_out)/report.txt)
$(eval $(call ipf_help,profile))
.DEFAULT_GOAL := $(if $(ipf_main),all,$(ipf_default))
