/* Fields of a record, read with the checks and the error messages common to all formats.
 *
 * field_…() read an optional member of a JSON object. They return 1, 0 if it is absent or null, or -1 if it has
 * another type (IPF_INPUT, "KEY: expected …, got …"). need_…() read a required one: 0, or -1, also if it is absent
 * ("KEY: missing"). `map` is the object, `key` the member's name. Texts belong to the draft, and are valid until it is
 * emptied.
 *
 *     struct slice question;
 *     int64_t output_tokens = IPF_ABSENT;
 *     if (need_text(d, j, JDOC_ROOT, "question", &question, err) < 0 ||
 *         jdoc_get_uint(j, JDOC_ROOT, "output_tokens", &output_tokens, err) < 0)
 *         return -1;
 */
#ifndef PREP_RECORD_FIELDS_H
#define PREP_RECORD_FIELDS_H

#include "sources/member_names.h"
#include "sources/source.h"

/* ---- members of a JSON object ---- */

/* The node itself has to be an object; `shown` names it in the error. */
int need_object(const struct jdoc *j, jdoc_id node, const char *shown, struct ipf_error *err);
int need_list(const struct jdoc *j, jdoc_id map, const char *key, jdoc_id *list, struct ipf_error *err);
int need_uint(const struct jdoc *j, jdoc_id map, const char *key, int64_t *value, struct ipf_error *err);
/* An object, or a string holding one as JSON, parsed into `inner`, which the caller releases. A NULL `key` is absent.
 * Its texts are valid as long as the draft's. */
int field_object(struct draft *d, const struct jdoc *j, jdoc_id map, const char *key, struct jdoc *inner,
                 struct ipf_error *err);
/* A number of tokens possible (token_count.h). */
int field_tokens(const struct jdoc *j, jdoc_id map, const char *key, int64_t *tokens, struct ipf_error *err);
int need_tokens(const struct jdoc *j, jdoc_id map, const char *key, int64_t *tokens, struct ipf_error *err);

/* The most tokens of an answer under any of the usual names (member_names.h), of which the last one counts. */
int field_limit(const struct jdoc *j, jdoc_id map, int64_t *tokens, struct ipf_error *err);

/* An element of a list of lengths, in tokens; 0 if the list ends before it. `key` is the list's name. 0 or -1. */
int element_tokens(const struct jdoc *j, jdoc_id list, uint32_t i, const char *key, int64_t *tokens,
                   struct ipf_error *err);

/* A string. The optional one is set to the absent slice if there is none. */
int field_text(struct draft *d, const struct jdoc *j, jdoc_id map, const char *key, struct slice *text,
               struct ipf_error *err);
int need_text(struct draft *d, const struct jdoc *j, jdoc_id map, const char *key, struct slice *text,
              struct ipf_error *err);

/* A name: a non-empty string, or a number, which is taken verbatim. Set to the absent slice if there is none.
 */
int field_name(struct draft *d, const struct jdoc *j, jdoc_id map, const char *key, struct slice *name,
               struct ipf_error *err);
int need_name(struct draft *d, const struct jdoc *j, jdoc_id map, const char *key, struct slice *name,
              struct ipf_error *err);
/* The same for a non-null node; `shown` names it in the error. 1 or -1. */
int node_name(struct draft *d, const struct jdoc *j, jdoc_id node, const char *shown, struct slice *name,
              struct ipf_error *err);

/* Whether two such times have a difference: within 146 years of 1970. field_time() takes no other. */
bool time_is_possible(int64_t ns);
/* A time from a number of `unit_ns`. A number too large for that unit is one of milliseconds, microseconds or
 * nanoseconds: the largest unit in which it is a time of 1990 or later. 0, or -1. */
int time_of_number(struct slice number, int64_t unit_ns, int64_t *ns);
/* A point in time, in nanoseconds: a number of `unit_ns` (also as a string), or a date and time such as
 * 2023-11-16T18:15:46Z. An empty string is absent. */
int field_time(const struct jdoc *j, jdoc_id map, const char *key, int64_t unit_ns, int64_t *ns, struct ipf_error *err);
int need_time(const struct jdoc *j, jdoc_id map, const char *key, int64_t unit_ns, int64_t *ns, struct ipf_error *err);

/* A duration, in nanoseconds: a number of `unit_ns`, 0 or more. */
int field_duration(const struct jdoc *j, jdoc_id map, const char *key, int64_t unit_ns, int64_t *ns,
                   struct ipf_error *err);
int need_duration(const struct jdoc *j, jdoc_id map, const char *key, int64_t unit_ns, int64_t *ns,
                  struct ipf_error *err);

/* The bytes of a JSON object. Absent if the node is no object. */
struct slice object_text(struct draft *d, const struct jdoc *j, jdoc_id node);
/* Replaces line feeds by spaces in parsed JSON the caller owns, since a request of the trace is one line. Records a
 * format gets have none. */
void put_on_one_line(struct slice json);

/* ---- the blocks of a prompt ---- */

/* The optional number of tokens in a block, 1 to 1048576. */
int field_block_tokens(const struct jdoc *j, jdoc_id map, const char *key, int64_t *tokens, struct ipf_error *err);
/* A list with a hash for each block of the prompt: a 64-bit integer, signed or not, or a text of hexadecimal digits. */
int node_block_ids(struct draft *d, const struct jdoc *j, jdoc_id list, const char *shown, struct draft_blocks *blocks,
                   struct ipf_error *err);
int need_block_ids(struct draft *d, const struct jdoc *j, jdoc_id map, const char *key, struct draft_blocks *blocks,
                   struct ipf_error *err);
/* The same for a request of r->input_tokens tokens, in blocks of r->blocks.tokens. The ids have to cover the prompt
 * exactly; the last block may be partial. */
int need_covering_blocks(struct draft *d, const struct jdoc *j, jdoc_id map, const char *key, struct draft_request *r,
                         struct ipf_error *err);

/* The tokens of a block, of which `count` cover a prompt: the first fitting one of the usual sizes, or else the fitting
 * power of two, or else the first. */
int64_t block_tokens_that_fit(int64_t tokens, int64_t count, const int64_t *usual, size_t usual_count);

/* ---- columns of a CSV file ---- */

/* The index of a column by its name in the header. */
int need_column(const struct csv *csv, const char *name, int *column, struct ipf_error *err);
/* A number of tokens: decimal digits, at most twelve. */
int column_tokens(const struct csv *csv, int column, int64_t *tokens, struct ipf_error *err);
/* A time in nanoseconds: a number of `unit_ns`, 0 or more. */
int column_time(const struct csv *csv, int column, int64_t unit_ns, int64_t *ns, struct ipf_error *err);

/* ---- arrivals and tags ---- */

/* The first arrival, from which a trace counts. All zeros: none yet. */
struct time_origin {
	int64_t first_ns;
	bool known;
};

/* The time since the origin, in nanoseconds; the first call sets the origin. Negative for an earlier time. */
int64_t since_origin(struct time_origin *origin, int64_t ns);

/* The state of a format of logs possibly without prompts. */
struct log_state {
	struct time_origin origin;
	bool drawn; /* prompt lengths are drawn: a request needs no recorded prompt */
};

/* A request without a prompt has this until its length is drawn. */
#define LOG_TOKENS_DRAWN 1

/* The `open` of a format whose state is a struct log_state, or begins with one. */
int log_open(void *state, const struct source_settings *settings, struct ipf_error *err);

/* The name of something in a file; one of a further file gets the file's number, so it differs. */
struct slice name_in_file(struct draft *d, int file_index, struct slice name);

/* Tags written as an object, which is released. Absent if there are none. */
struct slice tags_written(struct draft *d, struct buffer *object);

/* The tags {"NAME": text}. Absent for an empty text. */
struct slice text_tag(struct draft *d, const char *name, struct slice text);

/* The tags {"model": …}: the model of the recorded service, which is not the one to request. Absent for an empty name.
 */
struct slice model_tag(struct draft *d, struct slice model);

#endif
