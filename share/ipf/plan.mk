#: How many servers recorded traffic needs, hour by hour, by a twin of one of them: nothing is sent to any server.
#:
#:   ipf-report export twin run.results.zst >server.twin.json
#:   make -f plan.mk TWIN=server.twin.json DATA=AzureLLMInferenceTrace_conv.csv SLO=p99:ttft=2s,p90:tpot=50ms [VARIABLE=…]
#:
#: Variables (TWIN, and DATA or TRACE must be given; the trace must have arrival times):
#:   TWIN=            the twin of a server, see ipf-twin(5)
#:   SLO=p99:ttft=2s  objectives on percentiles
#:   EVERY=3600       the length of a window, in seconds
#:   MOST=64          replicas, at most
#:   TRAFFIC=1        times the recorded rate
#:   INPUT=1          times the recorded tokens of prompts, from 0.01 to 100, and OUTPUT=1, those of answers
#:   CACHE=1          times the KV cache of the twin, which must know its size
#:   PRICE=           what a replica costs for an hour, such as 2.5
#: Targets:
#:   all              plan.txt, plan.csv, plan.json, and plan.html, the report of all windows in one run, in the folder plan
#:   what-if          the plan beside those for twice the traffic, prompts twice as long, half and twice the KV cache: what-if.txt,
#:                    what-if.csv and what-if.json
#:   trace            only the requests
#:   show             show the plan again
ipf_sp := $(subst x,,x x)
ipf_self := $(subst $(ipf_sp),?,$(strip $(MAKEFILE_LIST)))
ipf_main := $(if $(wildcard $(ipf_self)),plan)
ipf_self := $(if $(ipf_main),$(ipf_self),$(lastword $(MAKEFILE_LIST)))
include $(subst ?,\ ,$(dir $(ipf_self)))common.mk

$(eval $(call ipf_begin,plan))
ipf_plan_twin  := $(call ipf_get,TWIN)
ipf_plan_given := $(ipf_plan_data)$(call ipf_get,TRACE)
ipf_plan_keys  := $(call ipf_word,$(call ipf_get,SLO,p99:ttft=2s)) $(call ipf_word,$(call ipf_get,EVERY,3600)) \
	$(call ipf_word,$(call ipf_get,MOST,64)) $(call ipf_word,$(call ipf_get,TRAFFIC,1)) $(call ipf_word,$(call ipf_get,INPUT,1)) \
	$(call ipf_word,$(call ipf_get,OUTPUT,1)) $(call ipf_word,$(call ipf_get,CACHE,1)) $(call ipf_word,$(call ipf_get,PRICE)) $(ipf_plan_seed)
$(eval $(call ipf_needs,plan,TWIN,$(ipf_plan_twin),the model of a server$(ipf_comma) as ipf-report export twin writes it))
$(eval $(call ipf_needs,plan,DATA,$(ipf_plan_given),the recorded trace$(ipf_comma) as in DATA=AzureLLMInferenceTrace_conv.csv))

$(eval $(call ipf_trace,plan,,$(ipf_plan_prompts) $(ipf_plan_prep)))
$(eval $(call ipf_setting,plan,plan.set,$(ipf_plan_keys) $(ipf_plan_twin) $(ipf_plan_fire)))
define ipf_plan_made
$(ipf_plan_dir)/plan.txt: $(ipf_plan_traced) $(call ipf_file,$(ipf_plan_twin)) $(ipf_plan_dir)/plan.set
	$(call ipf_script,plan.sh) $$(call ipf_word,$$@) $(call ipf_word,$(ipf_plan_trace)) $(call ipf_word,$(ipf_plan_twin)) $(ipf_plan_keys) $(call ipf_word,$(ipf_plan_fire))
$(ipf_plan_dir)/what-if.txt: $(ipf_plan_dir)/plan.txt
	$(call ipf_script,what-if.sh) $$(call ipf_word,$$@) $(call ipf_word,$(ipf_plan_trace)) $(call ipf_word,$(ipf_plan_twin)) $(ipf_plan_keys) $(call ipf_word,$(ipf_plan_fire))
endef
$(eval $(ipf_plan_made))

$(eval $(call ipf_target,plan,all,$(ipf_plan_dir)/plan.txt))
$(eval $(call ipf_target,plan,what-if,$(ipf_plan_dir)/what-if.txt))
$(eval $(call ipf_target,plan,trace,$(ipf_plan_traced)))
$(eval $(call ipf_target,plan,show))
ipf-plan-show:
	@cat $(call ipf_word,$(ipf_plan_out)/plan.txt)
$(eval $(call ipf_help,plan))
.DEFAULT_GOAL := $(if $(ipf_main),all,$(ipf_default))
