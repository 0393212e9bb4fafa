#: A whole study: each model on each server under each load, with one table of all. What is missing is measured, what is there is kept.
#:
#:   make -f study.mk SERVERS='old=http://localhost:8000 new=http://localhost:8001' MODELS=llama-3.1-8b LOADS='2 4 8' [VARIABLE=…]
#:
#: Each cell is a run as of run.mk, in the folder study/MODEL/SERVER/LOAD; one after another, also with -j. A cell that fails is named in
#: the table and does not end the study; the next call tries it again. A cell that is added later is measured, and no other. Each model and load
#: has its own prompts, the same ones for each server.
#:
#: Variables (STAGES has no effect; the list of any of the three may have one entry):
#:   SERVERS=URL      the servers, as [NAME=]URL
#:   MODELS=MODEL     the models, as [NAME=]MODEL; %20 is a space
#:   LOADS=RATE       the loads: requests per second, or names of which STAGES_NAME is given
#:   RATE=4           the load if there is only one
#:   STAGES_NAME=     the stages of the load NAME, as ipf-sched takes them; without them, NAME is a rate (Poisson arrivals)
#:   FOR=60s          how long a rate is sent
#:   UNTIL_STABLE=    end each run when throughput and latency are within a limit such as 5%, at the latest after its stages; see
#:                    Stability in ipf-collect(1)
#:   WARMUP=5s        how long before a rate the same load is sent unmeasured; 0 for none
#:   FIRE_OPTIONS_NAME= more options of ipf-fire for the server NAME, SCRAPE_NAME=SCRAPE what is sampled there
#:   TOKENIZER_NAME=TOKENIZER the tokenizer of the model NAME
#: Targets:
#:   all              study.txt, study.csv, study.md, index.html (the table, which leads to the page of each cell), study.sql (all cells, for
#:                    SQLite and PostgreSQL, see ipf-sql(5)) and all cells, in the folder study
#:   show             show the table again
ipf_sp := $(subst x,,x x)
ipf_self := $(subst $(ipf_sp),?,$(strip $(MAKEFILE_LIST)))
ipf_main := $(if $(wildcard $(ipf_self)),study)
ipf_self := $(if $(ipf_main),$(ipf_self),$(lastword $(MAKEFILE_LIST)))
include $(subst ?,\ ,$(dir $(ipf_self)))common.mk

$(eval $(call ipf_begin,study))
ipf_study_servers := $(call ipf_get,SERVERS,$(ipf_study_url))
ipf_study_models  := $(call ipf_get,MODELS,$(or $(subst $(ipf_sp),%20,$(ipf_study_model)),default))
ipf_study_loads   := $(call ipf_get,LOADS,$(call ipf_get,RATE,4))
$(eval $(call ipf_needs,study,URL,$(ipf_study_servers),the server$(ipf_comma) as in URL=http://localhost:8000$(ipf_comma) or SERVERS for several))

# Of an entry [NAME=]VALUE: the name, if it has one; the value; what its folder is called. A password of a URL is in no name.
ipf_study_first = $(firstword $(subst =,$(ipf_sp),$(1)))
ipf_study_named = $(if $(filter-out $(1),$(ipf_study_first)),$(if $(findstring :,$(ipf_study_first))$(findstring /,$(ipf_study_first)),,$(ipf_study_first)))
ipf_study_value = $(subst %20,$(ipf_sp),$(if $(ipf_study_named),$(patsubst $(ipf_study_named)=%,%,$(1)),$(1)))
ipf_study_plain = $(subst /,_,$(subst :,_,$(subst %20,_,$(lastword $(subst @,$(ipf_sp),$(subst https://,,$(subst http://,,$(patsubst %/,%,$(1)))))))))
ipf_study_name  = $(or $(ipf_study_named),$(ipf_study_plain))
# ipf_study_apart: WHAT, ENTRIES. Two with one name would be one folder.
# A name is a folder and a target: what make or a pattern would read as something else is refused.
ipf_study_odd = $(foreach entry,$(1),$(if $(filter =%,$(entry))$(strip $(foreach c,= ; | % & * ? [ ] \,$(findstring $(c),$(call ipf_study_name,$(entry))))),$(entry)))
define ipf_study_apart
ifneq (,$(call ipf_study_odd,$(2)))
$$(error $(1): $(firstword $(call ipf_study_odd,$(2))): its name would have one of = ; | % & * ? [ ] \: give it another one$(ipf_comma) as in NAME=VALUE)
endif
ifneq ($(words $(2)),$(words $(sort $(foreach entry,$(2),$(call ipf_study_name,$(entry))))))
$$(error $(1): two have the same name: give each another one$(ipf_comma) as in NAME=VALUE)
endif
endef
$(eval $(call ipf_study_apart,SERVERS,$(ipf_study_servers)))
$(eval $(call ipf_study_apart,MODELS,$(ipf_study_models)))
$(eval $(call ipf_study_apart,LOADS,$(ipf_study_loads)))

# What every run.mk of the study gets; one that is empty is not given.
ipf_study_given = $(if $(2),IPF_$(1)=$(call ipf_word,$(2)))
ipf_study_common := $(foreach name,API DATA SOURCE REQUESTS INPUT OUTPUT TRACE SEED FOR WARMUP UNTIL_STABLE PREP_OPTIONS COLLECT_OPTIONS \
	REPORT_OPTIONS GPU PROMETHEUS LISTEN PUSH LIVE_OPTIONS,$(call ipf_study_given,$(name),$(call ipf_get,$(name))))
# A study delivers no cell, and shows the table instead of each report.
ipf_study_common += STAGES= UPLOAD= PUSH_REPORT= IPF_UPLOAD= IPF_PUSH_REPORT= IPF_SHOW=0
# 1 with -n, for the shell
ipf_study_dry = $(if $(findstring n,$(firstword -$(MAKEFLAGS))),1)

# ipf_study_cell: MODEL, SERVER, LOAD (entries), MODEL, SERVER, LOAD (names). It comes after the cell before it.
ipf_study_last  :=
ipf_study_cells :=
define ipf_study_cell
.PHONY: ipf-study/$(4)/$(5)/$(6)
ipf-study/$(4)/$(5)/$(6): | $(ipf_study_last)
	@cell=$(call ipf_word,$(ipf_study_out)/$(4)/$(5)/$(6)); dry='$$(ipf_study_dry)'; \
	if $$(MAKE) -s --no-print-directory -f $(call ipf_word,$(ipf_dir)/run.mk) all "$$$$cell/report.html" OUT="$$$$cell" IPF_OUT="$$$$cell" \
		$(call ipf_study_given,URL,$(call ipf_study_value,$(2))) $(call ipf_study_given,MODEL,$(if $(filter default,$(1)),,$(call ipf_study_value,$(1)))) \
		$(if $(call ipf_get,STAGES_$(6)),$(call ipf_study_given,STAGES,$(call ipf_get,STAGES_$(6))),$(call ipf_study_given,RATE,$(6)) IPF_STAGES=) \
		$(call ipf_study_given,SALT,$(ipf_study_salt)-$(4)-$(6)) \
		$(call ipf_study_given,FIRE_OPTIONS,$(strip $(call ipf_get,FIRE_OPTIONS) $(call ipf_get,FIRE_OPTIONS_$(5)))) \
		$(call ipf_study_given,SCRAPE,$(call ipf_get,SCRAPE_$(5),$(call ipf_get,SCRAPE))) \
		$(call ipf_study_given,TOKENIZER,$(call ipf_get,TOKENIZER_$(4),$(call ipf_get,TOKENIZER))) $(ipf_study_common); \
	then [ -n "$$$$dry" ] || rm -f "$$$$cell/failed"; \
	elif [ -z "$$$$dry" ]; then mkdir -p "$$$$cell" && : >"$$$$cell/failed" && echo "study: $$$$cell failed" >&2; fi
ipf_study_last := ipf-study/$(4)/$(5)/$(6)
ipf_study_cells += $(4)/$(5)/$(6)
endef
$(foreach model,$(ipf_study_models),$(foreach server,$(ipf_study_servers),$(foreach load,$(ipf_study_loads),\
	$(eval $(call ipf_study_cell,$(model),$(server),$(load),$(call ipf_study_name,$(model)),$(call ipf_study_name,$(server)),$(call ipf_study_name,$(load)))))))

$(eval $(call ipf_target,study,all,$(addprefix ipf-study/,$(ipf_study_cells))))
define ipf_study_table
ipf-study:
	$(call ipf_script,study.sh) $(call ipf_word,$(ipf_study_out)) $(foreach cell,$(ipf_study_cells),$(call ipf_word,$(cell)))
endef
$(eval $(ipf_study_table))
$(eval $(call ipf_target,study,show))
ipf-study-show:
	@cat $(call ipf_word,$(ipf_study_out)/study.txt)
$(eval $(call ipf_help,study))
.DEFAULT_GOAL := $(if $(ipf_main),all,$(ipf_default))
