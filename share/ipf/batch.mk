#: A batch: all requests are handed over at once, and the server answers when it has time (OpenAI's Files and Batches: /v1/files, /v1/batches).
#:
#:   make -f batch.mk URL=https://api.openai.com MODEL=gpt-4.1-mini [VARIABLE=…]
#:
#: What counts is the makespan: from handing over to the last answer. The key is read from the variable that KEY_ENV names. An interrupted
#: call is continued by the next one: what was submitted is not submitted again.
#:
#: Variables:
#:   REQUESTS=1000    the number of synthetic requests
#:   ENDPOINT=/v1/chat/completions
#:                    where each request would be sent: also /v1/completions and /v1/embeddings
#:   WINDOW=24h       the completion window that is asked for
#:   POLL=5           seconds between two questions for the status; the makespan by our clock is exact to this
#:   TIMEOUT=86400    seconds after which the status is not asked for any more
#:   KEY_ENV=OPENAI_API_KEY
#:                    the environment variable with the API key
#:   PRICE=           what a million input tokens and a million output tokens cost, as in 0.2,0.8
#: Targets:
#:   all              report.txt, report.json, and what came back (outputs.jsonl, errors.jsonl), in the folder batch
#:   show             show report.txt again
ipf_sp := $(subst x,,x x)
ipf_self := $(subst $(ipf_sp),?,$(strip $(MAKEFILE_LIST)))
ipf_main := $(if $(wildcard $(ipf_self)),batch)
ipf_self := $(if $(ipf_main),$(ipf_self),$(lastword $(MAKEFILE_LIST)))
include $(subst ?,\ ,$(dir $(ipf_self)))common.mk

$(eval $(call ipf_begin,batch))
ipf_batch_made     := synthetic -n $(call ipf_word,$(call ipf_get,REQUESTS,1000)) $(ipf_batch_lengths)
ipf_batch_endpoint := $(call ipf_get,ENDPOINT,/v1/chat/completions)
ipf_batch_key      := $(call ipf_get,KEY_ENV,OPENAI_API_KEY)
$(call ipf_needs_url,batch)
$(if $(call ipf_get,TRACE),,$(eval $(call ipf_trace,batch,,$(ipf_batch_prompts) $(ipf_batch_prep))))

define ipf_batch_steps
$(call ipf_setting,batch,requests.set,$(ipf_batch_endpoint) $(ipf_batch_model))
$(ipf_batch_dir)/requests.jsonl: $(ipf_batch_traced) $(ipf_batch_dir)/requests.set
	$(call ipf_script,batch.sh) render $$(call ipf_word,$$@) $(call ipf_word,$(ipf_batch_trace)) $(call ipf_word,$(ipf_batch_endpoint)) $(call ipf_word,$(ipf_batch_model))
$(call ipf_setting,batch,submit.set,$(ipf_batch_url) $(call ipf_get,WINDOW,24h))
$(ipf_batch_dir)/submitted.json: $(ipf_batch_dir)/requests.jsonl $(ipf_batch_dir)/submit.set
	$(call ipf_script,batch.sh) submit $$(call ipf_word,$$@) $(call ipf_word,$(ipf_batch_out)/requests.jsonl) $(call ipf_word,$(ipf_batch_url)) \
		$(call ipf_word,$(ipf_batch_endpoint)) $(call ipf_word,$(call ipf_get,WINDOW,24h)) $(call ipf_word,$(ipf_batch_key))
$(ipf_batch_dir)/batch.json: $(ipf_batch_dir)/submitted.json
	$(call ipf_script,batch.sh) follow $$(call ipf_word,$$@) $(call ipf_word,$(ipf_batch_out)/submitted.json) $(call ipf_word,$(ipf_batch_url)) \
		$(call ipf_word,$(call ipf_get,POLL,5)) $(call ipf_word,$(call ipf_get,TIMEOUT,86400)) $(call ipf_word,$(ipf_batch_key))
$(call ipf_setting,batch,report.set,$(call ipf_get,PRICE))
$(ipf_batch_dir)/report.txt: $(ipf_batch_dir)/batch.json $(ipf_batch_dir)/report.set
	$(call ipf_script,batch.sh) report $$(call ipf_word,$$@) $(call ipf_word,$(ipf_batch_out)) $(call ipf_word,$(call ipf_get,PRICE))
endef
$(eval $(ipf_batch_steps))

$(eval $(call ipf_target,batch,all,$(ipf_batch_dir)/report.txt))
$(eval $(call ipf_target,batch,show))
ipf-batch-show:
	@cat $(call ipf_word,$(ipf_batch_out)/report.txt)
$(eval $(call ipf_help,batch))
.DEFAULT_GOAL := $(if $(ipf_main),all,$(ipf_default))
