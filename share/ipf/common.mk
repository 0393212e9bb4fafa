# What the makefiles of this folder have in common; each of them includes it. See ipf-makefiles(7).
#
# A makefile NAME.mk reads its variables once, where it is included, into variables that begin with ipf_NAME_; its targets begin with
# ipf-NAME. Nothing else is defined for an including makefile. Used by `make -f`, it also has short targets: all, help and others.
#
#: Variables of all makefiles:
#:   URL=             the server, as in http://localhost:8000
#:   MODEL=           the model to request (by default the trace's, or the only one of the server)
#:   API=             another API than openai-chat; ipf-fire --list-apis lists them
#:   DATA=            a dataset or a recorded trace; without it, requests are synthetic
#:   SOURCE=auto      the format of DATA; ipf-prep --list lists them
#:   REQUESTS=10000   the number of synthetic requests, which should not repeat during a run
#:   INPUT=1024       their prompt tokens, OUTPUT=128 their output tokens: distributions as in ipf-prep(1)
#:   SALT=            another text for synthetic prompts of the same lengths, which no cache of the server knows (by default the
#:                    makefile's name)
#:   TOKENIZER=       the model's tokenizer.json, for exact counts
#:   TRACE=           a finished trace, instead of DATA
#:   SEED=1           the seed of the trace and of the schedules
#:   OUT=             the folder of all files (by default the makefile's name)
#:   PREP_OPTIONS= FIRE_OPTIONS= COLLECT_OPTIONS= REPORT_OPTIONS=
#:                    more options of ipf-prep, ipf-fire, ipf-collect and ipf-report
#:   V=               1: show the commands
#: With any of these, ipf-collect follows each run while it lasts, and shows it on a terminal. See Live figures in ipf-makefiles(7).
#:   SCRAPE=          servers whose metrics are sampled, as [NAME=]URL; several (replicas) with spaces between them, as in all of these
#:   GPU=             accelerators that are sampled: auto, nvml, dcgm:URL, …
#:   PROMETHEUS=      a Prometheus that is asked at the end of a run what servers did
#:   LISTEN=          serve the figures of the run to Prometheus, at an address such as :9464
#:   PUSH=            send them to [KIND=]URL
#:   LIVE_OPTIONS=    more options of this ipf-collect, such as --scrape-timeout 2s
#: With one of these, the report of a finished run is also written as report.html and delivered; see ipf-report(1). Makefiles with several
#: runs do not have them.
#:   UPLOAD=          upload it with report.json and results.zst to a folder: s3://BUCKET/PATH or gs://BUCKET/PATH
#:   PUSH_REPORT=     send its figures to Pushgateways
#: IPF_URL and so on are read before URL and so on, in case a makefile or the environment uses those names otherwise.
#: A file that exists is not made again, and the next call after an interruption continues. If a variable has another value, what
#: depends on it is made again, and the records of earlier runs are kept beside the new ones as earlier-1.records.zst and so on.

# An including makefile that has no target yet gets none of these as its default; the makefiles set this at their end.
ipf_default := $(.DEFAULT_GOAL)

ifndef ipf_common
ipf_common := yes

ipf_comma := ,
# Where the scripts are: the same folder.
ipf_dir   := $(subst ?,$(ipf_sp),$(patsubst %/,%,$(dir $(ipf_self))))
# Text as one word of the shell, as one file name of make, and as a variable of the user's with its default.
ipf_word   = '$(subst ','\'',$(1))'
ipf_file   = $(subst $(ipf_sp),\ ,$(1))
ipf_get    = $(or $(IPF_$(1)),$($(1)),$(2))
# Runs one of the scripts; the programs are those in PATH, else those installed with this makefile.
ipf_script = @PATH="$$$$PATH":$(call ipf_word,$(ipf_dir)/../../bin):$(call ipf_word,$(ipf_dir)/../../.build/bin); \
	export PATH; exec sh $(call ipf_word,$(ipf_dir)/$(1))
# A long option with the value of a variable, if it has one; one for each word of it.
ipf_option = $(if $(2),$(1) $(call ipf_word,$(2)))
ipf_options = $(foreach word,$(2),$(call ipf_option,$(1),$(word)))

# ipf_sampled: SERVERS. What ipf-collect samples while a run lasts: other samples need another run, other places to publish figures do not.
ipf_sampled = $(strip $(call ipf_options,--scrape,$(1)) $(call ipf_options,--gpu,$(call ipf_get,GPU)) \
	$(call ipf_option,--prometheus,$(call ipf_get,PROMETHEUS)) $(call ipf_get,LIVE_OPTIONS))
ipf_published = $(strip $(call ipf_option,--listen,$(call ipf_get,LISTEN)) $(call ipf_options,--push,$(call ipf_get,PUSH)))
ipf_more = $(if $(strip $(1)),$(ipf_sp)$(strip $(1)))
# ipf_following: OPTIONS, MORE OPTIONS. Those of the ipf-collect that follows a run, if there are any of the former.
ipf_following = $(if $(strip $(1)),-- $(strip $(1) $(2)))

# Where a report is delivered; what the target all has for it.
ipf_delivery  = $(strip $(call ipf_get,UPLOAD) $(call ipf_get,PUSH_REPORT))
ipf_delivered = $(if $(ipf_delivery),$(ipf_$(1)_dir)/report.html)
# ipf_paged: NAME, PAGE. The same, if there is a page in any case, unless PAGE is 0.
ipf_paged = $(if $(filter 0,$(2)),$(call ipf_delivered,$(1)),$(ipf_$(1)_dir)/report.html)

.PHONY: ipf_force
ipf_force:

# ipf_setting: NAME, FILE, TEXT. FILE changes if the text is not that of last time: a digest, because the text may have secrets.
define ipf_setting
ipf_sum := $$(shell printf %s $(call ipf_word,$(3)) | cksum)
ifneq ($$(strip $$(file <$(ipf_$(1)_out)/$(2))),$$(ipf_sum))
$(ipf_$(1)_dir)/$(2): ipf_force
endif
$(ipf_$(1)_dir)/$(2): ipf_sum := $$(ipf_sum)
$(ipf_$(1)_dir)/$(2):
	@mkdir -p $(call ipf_word,$(ipf_$(1)_out)); echo '$$(ipf_sum)' >$$(call ipf_word,$$@)
endef

# ipf_begin: NAME. The common variables.
define ipf_begin
ipf_$(1)_out     := $(call ipf_get,OUT,$(1))
ipf_$(1)_url     := $(call ipf_get,URL)
ipf_$(1)_model   := $(call ipf_get,MODEL)
ipf_$(1)_data    := $(call ipf_get,DATA)
ipf_$(1)_seed    := $(call ipf_get,SEED,1)
ipf_$(1)_prep    := --seed $(call ipf_get,SEED,1) $(call ipf_option,-t,$(call ipf_get,TOKENIZER)) $(call ipf_get,PREP_OPTIONS)
ipf_$(1)_fire    := $(call ipf_option,-m,$(call ipf_get,MODEL)) $(call ipf_option,--api,$(call ipf_get,API)) $(call ipf_get,FIRE_OPTIONS)
ipf_$(1)_collect := $(call ipf_option,-t,$(call ipf_get,TOKENIZER)) $(call ipf_get,COLLECT_OPTIONS)
ipf_$(1)_sampled := $(call ipf_sampled,$(call ipf_get,SCRAPE))
ipf_$(1)_live    := $$(call ipf_following,$$(ipf_$(1)_sampled) $$(ipf_published))
ipf_$(1)_report  := $(call ipf_get,REPORT_OPTIONS)
ipf_$(1)_lengths := --input-tokens $(call ipf_word,$(call ipf_get,INPUT,1024)) --output-tokens $(call ipf_word,$(call ipf_get,OUTPUT,128))
ipf_$(1)_salt    := $(call ipf_get,SALT,$(1))
ipf_$(1)_made    := synthetic -n $(call ipf_word,$(call ipf_get,REQUESTS,10000)) $$(ipf_$(1)_lengths)
ipf_$(1)_prompts := $$(if $$(ipf_$(1)_data),$(call ipf_word,$(call ipf_get,SOURCE,auto)) $$(call ipf_word,$$(ipf_$(1)_data)),$$(ipf_$(1)_made) --salt $$(call ipf_word,$$(ipf_$(1)_salt)))
ipf_$(1)_dir     := $$(call ipf_file,$$(ipf_$(1)_out))
ipf_$(1)_trace   := $$(or $(call ipf_get,TRACE),$$(ipf_$(1)_out)/trace.zst)
ipf_$(1)_traced  := $$(call ipf_file,$$(ipf_$(1)_trace))
endef

# ipf_trace: NAME, STEM, ARGUMENTS OF ipf-prep. A local file of data is a prerequisite.
define ipf_trace
$(call ipf_setting,$(1),$(2)trace.set,$(3))
$(ipf_$(1)_dir)/$(2)trace.zst: $(if $(wildcard $(subst $(ipf_sp),?,$(ipf_$(1)_data))),$(call ipf_file,$(ipf_$(1)_data))) $(ipf_$(1)_dir)/$(2)trace.set
	$(call ipf_script,step.sh) $$(call ipf_word,$$@) ipf-prep $(3)
endef

# ipf_schedule: NAME, STEM, STAGES, TRACE (or that of NAME)
define ipf_schedule
$(call ipf_setting,$(1),$(2)schedule.set,$(3) $(ipf_$(1)_seed))
$(ipf_$(1)_dir)/$(2)schedule: $(call ipf_file,$(or $(4),$(ipf_$(1)_trace))) $(ipf_$(1)_dir)/$(2)schedule.set
	$(call ipf_script,step.sh) $$(call ipf_word,$$@) ipf-sched $(3) -t $(call ipf_word,$(or $(4),$(ipf_$(1)_trace))) --seed $(ipf_$(1)_seed)
endef

# ipf_records: NAME, STEM, URL, OPTIONS OF ipf-fire, TRACE (or that of NAME), WHAT IS MADE BEFORE IT, WHAT IS SAMPLED (or that of NAME).
# ipf_NAME_ends, if NAME has it, are options that end a run before its schedule does.
define ipf_records
$(call ipf_setting,$(1),$(2)fire.set,$(3) $(4)$(call ipf_more,$(ipf_$(1)_ends) $(or $(7),$(ipf_$(1)_sampled))))
$(ipf_$(1)_dir)/$(2)records.zst: $(call ipf_file,$(or $(5),$(ipf_$(1)_trace))) $(ipf_$(1)_dir)/$(2)schedule $(ipf_$(1)_dir)/$(2)fire.set $(if $(6),| $(6))
	$(call ipf_script,measure.sh) $$(call ipf_word,$$@) $(call ipf_word,$(3)) \
		-t $(call ipf_word,$(or $(5),$(ipf_$(1)_trace))) $(call ipf_word,$(ipf_$(1)_out)/$(2)schedule) $(4) \
		$(call ipf_following,$(or $(7),$(ipf_$(1)_sampled)) $(ipf_published) $(ipf_$(1)_ends),$(ipf_$(1)_collect))
	@mv $(call ipf_word,$(ipf_$(1)_out)/part.$(2)records.zst) $$(call ipf_word,$$@)
endef

# ipf_results: NAME, STEM
define ipf_results
$(call ipf_setting,$(1),$(2)collect.set,$(ipf_$(1)_collect))
$(ipf_$(1)_dir)/$(2)results.zst: $(ipf_$(1)_dir)/$(2)records.zst $(ipf_$(1)_dir)/$(2)collect.set
	$(call ipf_script,collect.sh) $$(call ipf_word,$$@) $(call ipf_word,$(ipf_$(1)_out)/$(2)records.zst) $(ipf_$(1)_collect) $(ipf_$(1)_ends)
endef

# ipf_reports: NAME, STEM, OPTIONS, --show if the text is shown when it is made, plots if plots are drawn in the folder of this name
define ipf_reports
$(call ipf_setting,$(1),$(2)report.set,$(3) $(ipf_$(1)_report))
$(ipf_$(1)_dir)/$(2)report.json: $(ipf_$(1)_dir)/$(2)results.zst $(ipf_$(1)_dir)/$(2)report.set
	$(call ipf_script,step.sh) $$(call ipf_word,$$@) ipf-report -f json $(3) $(ipf_$(1)_report) $(call ipf_word,$(ipf_$(1)_out)/$(2)results.zst)
$(ipf_$(1)_dir)/$(2)report.txt: $(ipf_$(1)_dir)/$(2)results.zst $(ipf_$(1)_dir)/$(2)report.set
	$(call ipf_script,step.sh) $(4) $$(call ipf_word,$$@) ipf-report $(3) $(if $(5),--plots $(call ipf_word,$(ipf_$(1)_out)/$(2)$(5))) $(ipf_$(1)_report) \
		$(call ipf_word,$(ipf_$(1)_out)/$(2)results.zst)
$(call ipf_setting,$(1),$(2)delivery.set,$(3) $(ipf_$(1)_report) $(ipf_delivery))
$(ipf_$(1)_dir)/$(2)report.html: $(ipf_$(1)_dir)/$(2)report.json $(ipf_$(1)_dir)/$(2)delivery.set
	$(call ipf_script,step.sh) $$(call ipf_word,$$@) ipf-report -f html $(3) $(ipf_$(1)_report) \
		$(if $(call ipf_get,UPLOAD),--upload $(call ipf_word,$(patsubst %/,%,$(call ipf_get,UPLOAD))/$(2)report.html) \
			--upload-file $(call ipf_word,$(ipf_$(1)_out)/$(2)report.json) --upload-file $(call ipf_word,$(ipf_$(1)_out)/$(2)results.zst)) \
		$(call ipf_options,--push,$(call ipf_get,PUSH_REPORT)) $(call ipf_word,$(ipf_$(1)_out)/$(2)results.zst)
endef

# ipf_target: NAME, TARGET, FILES. The target ipf-NAME-TARGET (ipf-NAME for all), and TARGET alone with `make -f`.
define ipf_target
.PHONY: ipf-$(1)$(if $(filter-out all,$(2)),-$(2))
ipf-$(1)$(if $(filter-out all,$(2)),-$(2)): $(3)
ifeq ($(ipf_main),$(1))
.PHONY: $(2)
$(2): ipf-$(1)$(if $(filter-out all,$(2)),-$(2))
endif
endef

# ipf_help: NAME. The text of its comments and of the ones above.
define ipf_help
$(call ipf_target,$(1),help)
ipf-$(1)-help:
	@sed -n 's/^#: \{0,1\}//p' $(call ipf_word,$(ipf_dir)/$(1).mk) $(call ipf_word,$(ipf_dir)/common.mk)
endef

# ipf_needs: NAME, VARIABLE, VALUE, TEXT. With `make -f`, a variable without which nothing can be measured is asked for at once.
define ipf_needs
ifeq ($(strip $(3)),)
ifneq ($$(if $$(MAKECMDGOALS),$$(filter-out help trace schedule show shared model ipf-%,$$(MAKECMDGOALS)),all),)
ifeq ($(ipf_main),$(1))
$$(error $(2) is missing: $(4))
endif
endif
endif
endef
ipf_needs_url = $(eval $(call ipf_needs,$(1),URL,$(ipf_$(1)_url),the server$(ipf_comma) as in URL=http://localhost:8000 (make -f $(1).mk help describes all variables)))

endif

ifneq ($(ipf_main),)
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
endif
