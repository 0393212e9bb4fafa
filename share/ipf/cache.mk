#: The prefix cache: the same load with prompts of which a cache can find a given share, one share after another.
#:
#:   make -f cache.mk URL=http://localhost:8000 MODEL=llama-3.1-8b [HIT_RATES='0 0.5 0.9'] [VARIABLE=…]
#:
#: Each share has other prompts, so that no run finds those of an earlier one; after a change of another variable, so has each SEED.
#:
#: Variables (DATA, SOURCE and TRACE have no effect):
#:   HIT_RATES=0 0.25 0.5 0.75 0.9   the shares of all prompt tokens that a cache without a limit finds
#:   RATE=4           requests per second (Poisson arrivals)
#:   FOR=60s          how long each share is measured
#:   UNTIL_STABLE=    end the run when throughput and latency are within a limit such as 5%, at the latest after FOR; see
#:                    Stability in ipf-collect(1)
#:   GROUPS=          the number of groups of prompts that share a prefix; see --groups in ipf-prep(1)
#: Targets:
#:   all              cache.csv, with the share that the server found and the one that was possible, and a report for each share
#:                    (hit-0.5.report.txt), in the folder cache
#:   show             show the table again
ipf_sp := $(subst x,,x x)
ipf_self := $(subst $(ipf_sp),?,$(strip $(MAKEFILE_LIST)))
ipf_main := $(if $(wildcard $(ipf_self)),cache)
ipf_self := $(if $(ipf_main),$(ipf_self),$(lastword $(MAKEFILE_LIST)))
include $(subst ?,\ ,$(dir $(ipf_self)))common.mk

$(eval $(call ipf_begin,cache))
ipf_cache_ends := $(call ipf_option,--until-stable,$(call ipf_get,UNTIL_STABLE))
ipf_cache_rates := $(call ipf_get,HIT_RATES,0 0.25 0.5 0.75 0.9)
ipf_cache_stage := poisson:rate=$(call ipf_get,RATE,4),for=$(call ipf_get,FOR,60s)
ipf_cache_made  := -n $(call ipf_word,$(call ipf_get,REQUESTS,1000)) $(ipf_cache_lengths) $(call ipf_option,--groups,$(call ipf_get,GROUPS))
$(call ipf_needs_url,cache)

# ipf_cache_one: SHARE. It comes after the share before it.
ipf_cache_last :=
define ipf_cache_one
$(call ipf_trace,cache,hit-$(1).,prefix --hit-rate $(1) --salt $(call ipf_word,$(ipf_cache_salt)-$(1)) $(ipf_cache_made) $(ipf_cache_prep))
$(call ipf_schedule,cache,hit-$(1).,$(ipf_cache_stage),$(ipf_cache_out)/hit-$(1).trace.zst)
$(call ipf_records,cache,hit-$(1).,$(ipf_cache_url),$(ipf_cache_fire),$(ipf_cache_out)/hit-$(1).trace.zst,$(ipf_cache_last))
$(call ipf_results,cache,hit-$(1).)
$(call ipf_reports,cache,hit-$(1).,--trace $(call ipf_word,$(ipf_cache_out)/hit-$(1).trace.zst))
ipf_cache_last := $(ipf_cache_dir)/hit-$(1).records.zst
endef
ipf_cache_data :=
$(foreach share,$(ipf_cache_rates),$(eval $(call ipf_cache_one,$(share))))

ipf_cache_reports := $(foreach share,$(ipf_cache_rates),$(ipf_cache_dir)/hit-$(share).report.json)
define ipf_cache_table
$(ipf_cache_dir)/cache.csv: $(ipf_cache_reports)
	$(call ipf_script,cache.sh) $$(call ipf_word,$$@) $(ipf_cache_rates)
endef
$(eval $(ipf_cache_table))

$(eval $(call ipf_target,cache,all,$(ipf_cache_dir)/cache.csv $(ipf_cache_reports:.json=.txt)))
$(eval $(call ipf_target,cache,show))
ipf-cache-show:
	@cat $(call ipf_word,$(ipf_cache_out)/cache.csv)
$(eval $(call ipf_help,cache))
.DEFAULT_GOAL := $(if $(ipf_main),all,$(ipf_default))
