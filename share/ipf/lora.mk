#: Several models or LoRA adapters on one server, in given shares, with a report for each.
#:
#:   make -f lora.mk URL=http://localhost:8000 MODELS=base=0.5,lora-a=0.3,lora-b=0.2 [VARIABLE=…]
#:
#: Variables (MODELS must be given; MODEL has no effect):
#:   MODELS=          the models, each with its share of the requests, a weight
#:   RATE=4           requests per second (Poisson arrivals), of all models together
#:   FOR=60s          how long they are sent
#:   UNTIL_STABLE=    end the run when throughput and latency are within a limit such as 5%, at the latest after FOR; see
#:                    Stability in ipf-collect(1)
#:   WARMUP=5s        how long before that the same load is sent unmeasured; 0 for none
#:   STAGES=          stages as ipf-sched takes them, instead of these three
#: Targets:
#:   all              report.txt and report.json, with figures for each model, in the folder lora
#:   trace, schedule  only so far: nothing is sent
#:   show             show the report again
ipf_sp := $(subst x,,x x)
ipf_self := $(subst $(ipf_sp),?,$(strip $(MAKEFILE_LIST)))
ipf_main := $(if $(wildcard $(ipf_self)),lora)
ipf_self := $(if $(ipf_main),$(ipf_self),$(lastword $(MAKEFILE_LIST)))
include $(subst ?,\ ,$(dir $(ipf_self)))common.mk

$(eval $(call ipf_begin,lora))
ipf_lora_ends := $(call ipf_option,--until-stable,$(call ipf_get,UNTIL_STABLE))
ipf_lora_models := $(call ipf_get,MODELS)
ipf_lora_rate   := $(call ipf_get,RATE,4)
ipf_lora_warmup := $(filter-out 0 0s,$(call ipf_get,WARMUP,5s))
ipf_lora_stages := $(call ipf_get,STAGES,$(if $(ipf_lora_warmup),poisson:rate=$(ipf_lora_rate)$(ipf_comma)for=$(ipf_lora_warmup)$(ipf_comma)warmup) poisson:rate=$(ipf_lora_rate)$(ipf_comma)for=$(call ipf_get,FOR,60s))
ipf_lora_fire   := $(call ipf_option,--api,$(call ipf_get,API)) $(call ipf_get,FIRE_OPTIONS)
$(call ipf_needs_url,lora)
$(eval $(call ipf_needs,lora,MODELS,$(ipf_lora_models),the models and their shares$(ipf_comma) as in MODELS=base=0.6$(ipf_comma)lora-a=0.4))

$(eval $(call ipf_trace,lora,,$(ipf_lora_prompts) --models $(call ipf_word,$(ipf_lora_models)) $(ipf_lora_prep)))
$(eval $(call ipf_schedule,lora,,$(ipf_lora_stages)))
$(eval $(call ipf_records,lora,,$(ipf_lora_url),$(ipf_lora_fire)))
$(eval $(call ipf_results,lora,))
$(eval $(call ipf_reports,lora,,--by model,--show))

$(eval $(call ipf_target,lora,all,$(addprefix $(ipf_lora_dir)/,report.txt report.json) $(call ipf_delivered,lora)))
$(eval $(call ipf_target,lora,trace,$(ipf_lora_traced)))
$(eval $(call ipf_target,lora,schedule,$(ipf_lora_dir)/schedule))
$(eval $(call ipf_target,lora,show))
ipf-lora-show:
	@cat $(call ipf_word,$(ipf_lora_out)/report.txt)
$(eval $(call ipf_help,lora))
.DEFAULT_GOAL := $(if $(ipf_main),all,$(ipf_default))
