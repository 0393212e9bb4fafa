/* What sources share in taking a record apart: members that have to be there, times, names, chat messages, block ids.
 *
 * Functions that look for something return 1, 0 where it is absent or null, -1 where it is of another type (IPF_INPUT);
 * those that need it return 0 or -1.
 */
#ifndef PREP_TAKE_H
#define PREP_TAKE_H

#include "sources/source.h"

int need_map(const struct jdoc *j, jdoc_id node, const char *shown, struct ipf_error *err);
int need_uint(const struct jdoc *j, jdoc_id map, const char *key, int64_t *value, struct ipf_error *err);
int need_list(const struct jdoc *j, jdoc_id map, const char *key, jdoc_id *list, struct ipf_error *err);
int need_text(struct draft *d, const struct jdoc *j, jdoc_id map, const char *key, struct slice *text,
              struct ipf_error *err);
int record_fields_text(struct draft *d, const struct jdoc *j, jdoc_id map, const char *key, struct slice *text,
                       struct ipf_error *err);
/* A text that is not empty, or a number as it stands. */
int record_fields_name(struct draft *d, const struct jdoc *j, jdoc_id map, const char *key, struct slice *name,
                       struct ipf_error *err);
/* A number (or a text that is one) of units of `unit_ns`; a text may also be a date and time. */
int record_fields_time(struct draft *d, const struct jdoc *j, jdoc_id map, const char *key, int64_t unit_ns,
                       int64_t *ns, struct ipf_error *err);
/* A number of 0 or more of units of `unit_ns`. */
int record_fields_duration(const struct jdoc *j, jdoc_id map, const char *key, int64_t unit_ns, int64_t *ns,
                           struct ipf_error *err);

/* The texts of a message's content: a string, or a list of parts of which those with a text count. */
struct slice record_fields_content(struct draft *d, const struct jdoc *j, jdoc_id content);
/* Adds a list of chat messages to the last request, passed on as they stand; an assistant's text at the end is its
 * answer. */
int record_fields_chat(struct draft *d, const struct jdoc *j, jdoc_id list, const char *name, struct ipf_error *err);
/* Tools as the chat API takes them, from a list of them or of bare functions, or from a text that holds one; absent
 * where there is none that can be understood. */
struct slice record_fields_tools(struct draft *d, const struct jdoc *j, jdoc_id node);
/* An object on one line; absent where it is none. */
struct slice record_fields_object(struct draft *d, const struct jdoc *j, jdoc_id node);
/* The form that an answer has to have, as the chat API takes it; absent where it is plain text, or no map. */
struct slice record_fields_response_format(struct draft *d, const struct jdoc *j, jdoc_id node);

/* Adds a request as it is posted to the chat or completions API, an object. 0: neither messages nor a prompt in it. */
int record_fields_body(struct draft *d, const struct jdoc *j, jdoc_id body, struct ipf_error *err);

/* {"model": …} in the draft, for tags: the model of the service that was recorded, which is not one to ask. */
struct slice model_tag(struct draft *d, struct slice model);

/* A list of block ids of 64 bits. */
int record_fields_block_ids(struct draft *d, const struct jdoc *j, jdoc_id list, const char *name, const uint64_t **ids,
                            size_t *count, struct ipf_error *err);

/* Columns of a CSV file by name, and their fields. */
int need_column(const struct csv *csv, const char *name, int *at, struct ipf_error *err);
int csv_count(const struct csv *csv, int at, int64_t *count, struct ipf_error *err);
/* A number of units, 0 or more. */
int csv_time(const struct csv *csv, int at, int64_t unit_ns, int64_t *ns, struct ipf_error *err);

/* A request with a prompt and, where it is there, a system message before it and an answer. One without a prompt is
 * counted as of no use. */
int record_fields_pair(struct sink *sink, struct slice system, struct slice prompt, struct slice answer,
                       struct ipf_error *err);

#endif
