#: Two servers, or two models or settings, with the same load: A B, then B A, and so on, into one table.
#:
#:   make -f compare.mk URL_A=http://localhost:8000 URL_B=http://localhost:8001 MODEL=llama-3.1-8b [VARIABLE=…]
#:
#: Both get the same requests at the same times, and each round changes who is first, so that a drift affects both alike. Synthetic
#: requests are other ones in each round; those of DATA are the same ones again. If A and B are one server, its prefix cache may know
#: the prompts of a round from the first run of it.
#:
#: Variables:
#:   URL_A=URL        the server of A, URL_B= the server of B (by default URL)
#:   MODEL_A=MODEL    the model of A, MODEL_B= the model of B (by default MODEL)
#:   FIRE_OPTIONS_A=  more options of ipf-fire for A only, FIRE_OPTIONS_B= for B only
#:   SCRAPE_A=SCRAPE  the servers whose metrics are sampled in the runs of A, SCRAPE_B= in those of B
#:   ROUNDS=2         how often both are measured
#:   RATE=4           requests per second (Poisson arrivals)
#:   FOR=60s          how long each run is
#:   UNTIL_STABLE=    end the run when throughput and latency are within a limit such as 5%, at the latest after FOR; see
#:                    Stability in ipf-collect(1)
#:   WARMUP=5s        how long before that the same load is sent unmeasured; 0 for none
#:   COMPARE_OPTIONS= more options of ipf-report compare, such as --min-effect 5% or --fail-if 'ttft.p99 > +5%', with which make fails
#:                    (also if noise leaves it open, unless --undecided pass is given): its status is 2, as always when a step
#:                    fails, "Error 4" in its last line says that it was the comparison, and difference-failed.txt has its text
#:   STAGES=          stages as ipf-sched takes them, instead of these three
#: Targets:
#:   all              difference.txt and difference.html (what changed from A to B, and what is noise), comparison.txt, comparison.csv, and a report for each run (a-1.report.txt), in the folder compare
#:   show             show the table again
ipf_sp := $(subst x,,x x)
ipf_self := $(subst $(ipf_sp),?,$(strip $(MAKEFILE_LIST)))
ipf_main := $(if $(wildcard $(ipf_self)),compare)
ipf_self := $(if $(ipf_main),$(ipf_self),$(lastword $(MAKEFILE_LIST)))
include $(subst ?,\ ,$(dir $(ipf_self)))common.mk

$(eval $(call ipf_begin,compare))
ipf_compare_ends := $(call ipf_option,--until-stable,$(call ipf_get,UNTIL_STABLE))
ipf_compare_rate   := $(call ipf_get,RATE,4)
ipf_compare_warmup := $(filter-out 0 0s,$(call ipf_get,WARMUP,5s))
ipf_compare_stages := $(call ipf_get,STAGES,$(if $(ipf_compare_warmup),poisson:rate=$(ipf_compare_rate)$(ipf_comma)for=$(ipf_compare_warmup)$(ipf_comma)warmup) poisson:rate=$(ipf_compare_rate)$(ipf_comma)for=$(call ipf_get,FOR,60s))
ipf_compare_api    := $(call ipf_option,--api,$(call ipf_get,API)) $(call ipf_get,FIRE_OPTIONS)
ipf_compare_url_a  := $(call ipf_get,URL_A,$(ipf_compare_url))
ipf_compare_url_b  := $(call ipf_get,URL_B,$(ipf_compare_url))
ipf_compare_fire_a := $(call ipf_option,-m,$(call ipf_get,MODEL_A,$(ipf_compare_model))) $(ipf_compare_api) $(call ipf_get,FIRE_OPTIONS_A)
ipf_compare_fire_b := $(call ipf_option,-m,$(call ipf_get,MODEL_B,$(ipf_compare_model))) $(ipf_compare_api) $(call ipf_get,FIRE_OPTIONS_B)
ipf_compare_sampled_a := $(call ipf_sampled,$(call ipf_get,SCRAPE_A,$(call ipf_get,SCRAPE)))
ipf_compare_sampled_b := $(call ipf_sampled,$(call ipf_get,SCRAPE_B,$(call ipf_get,SCRAPE)))
ipf_compare_rounds := $(shell seq 1 $(call ipf_get,ROUNDS,2))
$(eval $(call ipf_needs,compare,URL_A,$(ipf_compare_url_a),the first server$(ipf_comma) as in URL_A=http://localhost:8000 (or URL for both)))
$(eval $(call ipf_needs,compare,URL_B,$(ipf_compare_url_b),the second server$(ipf_comma) as in URL_B=http://localhost:8001 (or URL for both)))

# Synthetic prompts are other ones in each round. Each run comes after the one before it.
ipf_compare_fixed := $(ipf_compare_data)$(call ipf_get,TRACE)
ipf_compare_of     = $(if $(ipf_compare_fixed),$(ipf_compare_trace),$(ipf_compare_out)/round-$(1).trace.zst)
ipf_compare_last  :=
# ipf_compare_run: ROUND, SIDE
define ipf_compare_run
$(call ipf_schedule,compare,$(2)-$(1).,$(ipf_compare_stages),$(call ipf_compare_of,$(1)))
$(call ipf_records,compare,$(2)-$(1).,$(ipf_compare_url_$(2)),$(ipf_compare_fire_$(2)),$(call ipf_compare_of,$(1)),$(ipf_compare_last),$(ipf_compare_sampled_$(2)))
$(call ipf_results,compare,$(2)-$(1).)
$(call ipf_reports,compare,$(2)-$(1).,)
ipf_compare_last := $(ipf_compare_dir)/$(2)-$(1).records.zst
endef
$(if $(ipf_compare_fixed),$(eval $(call ipf_trace,compare,,$(ipf_compare_prompts) $(ipf_compare_prep))))
$(foreach round,$(ipf_compare_rounds),\
	$(if $(ipf_compare_fixed),,$(eval $(call ipf_trace,compare,round-$(round).,$(ipf_compare_made) --salt $(call ipf_word,$(ipf_compare_salt)-$(round)) $(ipf_compare_prep)))) \
	$(foreach side,$(if $(filter %1 %3 %5 %7 %9,$(round)),a b,b a),$(eval $(call ipf_compare_run,$(round),$(side)))))

ipf_compare_reports := $(foreach round,$(ipf_compare_rounds),$(ipf_compare_dir)/a-$(round).report.json $(ipf_compare_dir)/b-$(round).report.json)
define ipf_compare_table
$(ipf_compare_dir)/comparison.csv: $(ipf_compare_reports)
	$(call ipf_script,comparison.sh) $$(call ipf_word,$$@) $(ipf_compare_rounds)
endef
$(eval $(ipf_compare_table))
ipf_compare_options := $(call ipf_get,COMPARE_OPTIONS)
define ipf_compare_difference
$(call ipf_setting,compare,difference.set,$(ipf_compare_options))
$(ipf_compare_dir)/difference.txt: $(ipf_compare_reports:.report.json=.results.zst) $(ipf_compare_dir)/comparison.csv $(ipf_compare_dir)/difference.set
	$(call ipf_script,difference.sh) $$(call ipf_word,$$@) $(call ipf_word,$(ipf_compare_rounds)) $(ipf_compare_options)
endef
$(eval $(ipf_compare_difference))

$(eval $(call ipf_target,compare,all,$(ipf_compare_reports:.json=.txt) $(ipf_compare_dir)/comparison.csv $(ipf_compare_dir)/difference.txt))
$(eval $(call ipf_target,compare,show))
ipf-compare-show:
	@cat $(call ipf_word,$(ipf_compare_out)/comparison.txt) $(call ipf_word,$(ipf_compare_out)/difference.txt)
$(eval $(call ipf_help,compare))
.DEFAULT_GOAL := $(if $(ipf_main),all,$(ipf_default))
