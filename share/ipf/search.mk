#: The highest load at which a server meets objectives, by a search: stages at one rate after another, until the answer is known.
#:
#:   make -f search.mk URL=http://localhost:8000 MODEL=llama-3.1-8b SLO=p99:ttft=500ms,p90:tpot=50ms [VARIABLE=…]
#:
#: Variables:
#:   SLO=p99:ttft=500ms  the objectives, as in Searching in ipf-sched(1)
#:   LOW=1            the lowest rate, in requests per second
#:   HIGH=100         the highest rate
#:   FOR=60s          how long each rate is measured
#:   SEARCH=          more keys of the search, such as precision=10%,most=20 or users
#:   RAMPUP=5s        with users or sessions in SEARCH: they begin one after another over this time; 0: all at once
#: Targets:
#:   all              answer.txt and search.csv (a row for each stage), in the folder search
#:   trace            only the requests: nothing is sent
#:   show             show the answer again
ipf_sp := $(subst x,,x x)
ipf_self := $(subst $(ipf_sp),?,$(strip $(MAKEFILE_LIST)))
ipf_main := $(if $(wildcard $(ipf_self)),search)
ipf_self := $(if $(ipf_main),$(ipf_self),$(lastword $(MAKEFILE_LIST)))
include $(subst ?,\ ,$(dir $(ipf_self)))common.mk

$(eval $(call ipf_begin,search))
ipf_search_more   := $(call ipf_get,SEARCH)
ipf_search_loop   := $(filter users sessions,$(subst $(ipf_comma),$(ipf_sp),$(ipf_search_more)))
ipf_search_rampup := $(if $(ipf_search_loop),$(if $(findstring rampup=,$(ipf_search_more)),,$(filter-out 0 0s,$(call ipf_get,RAMPUP,5s))))
ipf_search_stage  := search:slo=$(call ipf_get,SLO,p99:ttft=500ms),low=$(call ipf_get,LOW,1),high=$(call ipf_get,HIGH,100),for=$(call ipf_get,FOR,60s)$(if $(ipf_search_more),$(ipf_comma)$(ipf_search_more))$(if $(ipf_search_rampup),$(ipf_comma)rampup=$(ipf_search_rampup))
$(call ipf_needs_url,search)

$(eval $(call ipf_trace,search,,$(ipf_search_prompts) $(ipf_search_prep)))
$(eval $(call ipf_setting,search,search.set,$(ipf_search_stage) $(ipf_search_seed) $(ipf_search_url) $(ipf_search_fire)$(call ipf_more,$(ipf_search_sampled))))
$(eval $(call ipf_setting,search,collect.set,$(ipf_search_collect)))
define ipf_search_answer
$(ipf_search_dir)/answer.txt: $(ipf_search_traced) $(ipf_search_dir)/search.set $(ipf_search_dir)/collect.set
	$(call ipf_script,search.sh) $$(call ipf_word,$$@) $(call ipf_word,$(ipf_search_trace)) $(call ipf_word,$(ipf_search_stage)) \
		$(ipf_search_seed) $(call ipf_word,$(ipf_search_url)) $(call ipf_word,$(ipf_search_collect)) $(ipf_search_fire) $(ipf_search_live)
endef
$(eval $(ipf_search_answer))

$(eval $(call ipf_target,search,all,$(ipf_search_dir)/answer.txt))
$(eval $(call ipf_target,search,trace,$(ipf_search_traced)))
$(eval $(call ipf_target,search,show))
ipf-search-show:
	@cat $(call ipf_word,$(ipf_search_out)/search.csv) $(call ipf_word,$(ipf_search_out)/answer.txt)
$(eval $(call ipf_help,search))
.DEFAULT_GOAL := $(if $(ipf_main),all,$(ipf_default))
