/* What the user asked for: the options as they stand on the command line, and what they mean. */
#ifndef PREP_PREP_H
#define PREP_PREP_H

#include "absent.h"
#include "draft/distribution.h"
#include "shape/slo_option.h"
#include "cli/options.h"
#include "sources/source.h"
#include "shape/chat_template.h"
#include "tokenizer/token_counter.h"
#include "shape/shares.h"

#include <math.h>

struct prep_options {
	struct common_options common;
	bool list;
	const char *tokenizer;
	int64_t n, sessions;
	bool shuffle, first_two, dequantise;
	double scale; /* NAN: as it is */
	const char *preset, *profile, *content, *sample, *on_error, *failed, *sub_agents;
	int64_t min_input, max_input, min_output, max_output, max_total;
	const char *input_tokens, *output_tokens, *turns, *wait;
	const char *template_tokens;
	const char *system, *prefixes, *models, *salt;
	int64_t from_ns, to_ns;
	const char *prompt;
	struct string_list fields, slo;
};
#define PREP_DEFAULTS                                                                                                  \
	{                                                                                                                  \
		.common = COMMON_DEFAULTS, .n = IPF_ABSENT, .sessions = IPF_ABSENT, .min_input = IPF_ABSENT,                   \
		.max_input = IPF_ABSENT, .min_output = IPF_ABSENT, .max_output = IPF_ABSENT, .max_total = IPF_ABSENT,          \
		.scale = NAN, .from_ns = IPF_ABSENT, .to_ns = IPF_ABSENT                                                       \
	}

extern const struct program prep_program;

enum prompt_form { AS_MESSAGES, AS_TEXT, AS_IDS, AS_NOTHING }; /* what the trace has for a prompt */
enum sample { SAMPLE_ALL, SAMPLE_WITHOUT, SAMPLE_WITH }; /* in the data's order; at random without, with replacement */

/* Prefixes of one length, out of which each is as likely as the other. */
struct prefix_group {
	int64_t first, count, tokens; /* `first`: its place among all */
};

struct prep_plan {
	const struct prep_options *options;
	const struct source_format *format;
	void *state;     /* the format's */
	unsigned traits; /* the format's, under these settings */
	struct token_counter *tokens;
	struct chat_template_cost template;
	enum sample sample;
	enum prompt_form prompt;
	struct slo_option *goals; /* NULL: none */
	int64_t around;           /* special tokens that a preset counts in with each text, as the benchmark does */
	bool drop_failed;
	bool lone;   /* one request a conversation, no sessions */
	bool gather; /* hold everything and put it in order at the end */
	struct distribution turns, input, output, wait;
	struct buffer content;               /* to take made texts from; empty: they are made of nothing */
	struct buffer system;                /* data == NULL: none */
	json_t *files;                       /* provenance of the files that options name */
	struct shares prefix_shares, models; /* no list: none */
	struct prefix_group *prefix_groups;  /* one for each share */
	int64_t prefix_count;                /* of all groups */
};

/* Sets what --preset and --profile stand for where the user has not set it. */
int plan_preset(struct prep_options *options, struct ipf_error *err);
/* `format`: by its name or found by looking. IPF_USAGE where options don't go together. `files` is the number of
 * operands after the source. */
int plan_make(struct prep_plan *plan, const struct prep_options *options, const struct source_format *format, int files,
              struct ipf_error *err);
void plan_release(struct prep_plan *plan);

#endif
