/* The configuration of ipf-prep: the command line, parsed and checked once. The rest of the program reads it as a
 * `const struct prep_config *`.
 *
 *     struct prep_config config = PREP_CONFIG_DEFAULTS;
 *     program_start(&prep_program, argc, argv, &config, …);   // each option is parsed by its row in the table
 *     prep_config_check(&config, &err);                       // options against each other; presets and profiles
 *     prep_config_open(&config, format, files, &err);         // reads the files that options name, opens the format
 *     …
 *     prep_config_release(&config);
 */
#ifndef PREP_CONFIG_H
#define PREP_CONFIG_H

#include "absent.h"
#include "cli/options.h"
#include "config/chat_template.h"
#include "config/class_parts.h"
#include "config/slo_rules.h"
#include "draft/distribution.h"
#include "draft/prefix_groups.h"
#include "draft/random_places.h"
#include "draft/share_list.h"
#include "media/media_options.h"
#include "sources/source.h"
#include "tokenizer/token_counter.h"

#include <math.h>

/* ---- values of options; -1 is an option not given, the others index its choices ---- */

enum sample { SAMPLE_ALL = -1, SAMPLE_WITH, SAMPLE_WITHOUT }; /* all in order; at random with, without replacement */
enum preset { PRESET_NONE = -1, PRESET_VLLM, PRESET_SGLANG, PRESET_LPG };
enum profile {
	PROFILE_NONE = -1,
	PROFILE_CHAT,
	PROFILE_CODE_GENERATION,
	PROFILE_CLASSIFICATION,
	PROFILE_SUMMARIZATION,
	PROFILE_FIXED_LENGTH
};
enum keep_or_drop { KEEP_DEFAULT = -1, KEEP, DROP };
enum on_error { ON_ERROR_SKIP, ON_ERROR_STOP };
/* PROMPT_RECORDED is no choice of --prompt: messages where the data has text, else only the length. */
enum prompt_form { PROMPT_MESSAGES, PROMPT_TEXT, PROMPT_IDS, PROMPT_NONE, PROMPT_RECORDED };

extern const char *const prompt_form_names[];

/* Limits on lengths in the data, in tokens; IPF_ABSENT: no limit. */
struct token_limits {
	int64_t min_input, max_input, min_output, max_output, max_total;
};

struct distribution_option {
	struct distribution distribution;
	const char *histogram; /* the FILE of histogram:FILE, which prep_config_open reads into `distribution`; or NULL */
	bool given;
};

struct prep_config {
	/* ---- the options ---- */
	struct common_options common;
	bool list;
	int64_t max_requests, max_sessions; /* IPF_ABSENT: no limit */
	bool shuffle;
	enum sample sample; /* SAMPLE_WITHOUT for --shuffle too */
	enum preset preset;
	struct token_limits limits;
	int64_t from_ns, to_ns; /* since the trace's start; IPF_ABSENT */
	enum keep_or_drop failed, sub_agents;
	enum profile profile;
	struct distribution_option input, output; /* tokens */
	struct distribution_option turns, wait;
	struct distribution_option batch, query; /* inputs of a request; tokens of its query */
	const char *system;                      /* file or text; NULL: the data's own */
	struct prefix_groups prefixes;
	int64_t groups;                  /* --groups; IPF_ABSENT */
	double hit_rate;                 /* --hit-rate; NAN */
	const char *salt, *content_file; /* or NULL */
	struct share_list models;        /* empty: the data's own */
	struct share_list classes;       /* empty: those of the data */
	struct class_parts class_parts;  /* parts of their requests */
	struct traffic_mix mix;          /* --like: its files, read by prep_config_open */
	struct slo_rules slo;
	struct share_or_count canaries, repeats;
	bool repeat_logprobs;
	double scale; /* NAN: as recorded */
	bool dequantise;
	const char *tokenizer;
	struct chat_template template;
	enum prompt_form prompt;
	bool answer_ids; /* write recorded answers as token ids */
	struct media_options media;
	const char *media_file, *media_root; /* NULL: by the names of the output and of the data */
	enum on_error on_error;
	int64_t memory; /* 0: the default */
	bool strict;    /* end with status 3 if records or members were left out */
	struct string_list fields;
	struct capture_settings capture;

	/* ---- the selection; set by prep_config_open ---- */
	const struct source_format *format;
	void *format_state;
	unsigned traits; /* the format's under these settings: enum source_trait */
	struct token_counter *tokens;
	int64_t special_tokens;       /* tokens added by a preset to the length of each text; 0 without a preset */
	struct buffer system_message; /* if `system` is given */
	struct buffer content;        /* the source of synthetic text; empty: from a grammar */
	json_t *option_files;         /* provenance of the files that options name; NULL: none */
	bool first_turn_only;         /* each conversation becomes one request, without a session */
	bool hold_all;                /* sort all requests, and write them at the end */
};

#define PREP_CONFIG_DEFAULTS                                                                                           \
	{                                                                                                                  \
		.common = COMMON_DEFAULTS, .max_requests = IPF_ABSENT, .max_sessions = IPF_ABSENT, .sample = SAMPLE_ALL,       \
		.preset = PRESET_NONE, .profile = PROFILE_NONE,                                                                \
		.limits = {IPF_ABSENT, IPF_ABSENT, IPF_ABSENT, IPF_ABSENT, IPF_ABSENT}, .from_ns = IPF_ABSENT,                 \
		.to_ns = IPF_ABSENT, .failed = KEEP_DEFAULT, .sub_agents = KEEP_DEFAULT, .groups = IPF_ABSENT,                 \
		.hit_rate = NAN, .scale = NAN, .template = {                                                                   \
			.message = IPF_ABSENT                                                                                      \
		}                                                                                                              \
	}

/* The row of --memory, whose value is in force as soon as it is parsed (memory_limit.h). */
#define MEMORY_OPTION(type_, member_)                                                                                  \
	{                                                                                                                  \
		.kind = OPTION_PARSED, .name = "memory", .argument = "SIZE", .offset = offsetof(type_, member_),               \
		.help = "take at most about SIZE of memory, and keep the rest of the data in temporary files (default: a "     \
				"quarter of the machine's memory, at least 256MiB; of captures, 128MiB)",                              \
		.parse = prep_config_parse_memory, .unshaping = true                                                           \
	}
int prep_config_parse_memory(const char *value, void *variable, struct ipf_error *err);

/* Its options are those of a struct prep_config. */
extern const struct program prep_program;
/* ipf-prep fit, which has some of them. */
extern const struct program fit_program;

/* Applies --preset and --profile to unset options, and checks the options against each other (IPF_USAGE). Reads
 * nothing. */
int prep_config_check(struct prep_config *config, struct ipf_error *err);
/* The same if conversations are wanted with all of their turns, unless the user asks for less. */
int prep_config_check_all_turns(struct prep_config *config, struct ipf_error *err);
/* Reads the files of options, opens the tokenizer and the format, and queries the server of --template-tokens. `files`
 * is the number of FILE operands. IPF_USAGE: an option of other formats. */
int prep_config_open(struct prep_config *config, const struct source_format *format, size_t files,
                     struct ipf_error *err);
/* The number of inputs of request `number` (--batch). */
int64_t prep_config_batch_size(const struct prep_config *config, int64_t number);
/* To be called after an error, and after unparsable options, too. */
void prep_config_release(struct prep_config *config);

#endif
