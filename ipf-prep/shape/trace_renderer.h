/* The last stage: turns drafts into requests of the trace. It gives each request its length, system message, prefix,
 * model and objectives, and makes synthetic text for prompts whose text was not recorded.
 *
 * Its random choices depend on the seed and the record's number only (draft_rng.h).
 */
#ifndef PREP_TRACE_RENDERER_H
#define PREP_TRACE_RENDERER_H

#include "config/prep_config.h"
#include "draft/flat_prompt.h"
#include "media/media_store.h"
#include "shape/fit_length.h"
#include "shape/selection_counts.h"
#include "shape/synthetic_prompt.h"
#include "stream/trace.h"
#include "text/exact_text.h"

/* Where finished requests go: into the trace, or to a consumer of them. */
struct request_sink {
	/* 0, or -1 with `err`. The request is valid during the call. */
	int (*take)(struct request_sink *sink, const struct trace_request *request, struct ipf_error *err);
};

struct trace_renderer {
	const struct prep_config *config;
	struct request_sink *requests;
	struct media_store *media; /* NULL: media stay as they are in the data */
	struct selection_counts *counts;
	struct exact_text exact;
	struct fit_length fit;
	struct synthetic_prompt synthetic;
	struct flat_prompt flat;
	struct draft work;         /* the messages of the request at hand, and space for their texts */
	struct jdoc tags_document; /* scratch */
	struct buffer *prefixes;   /* one for each prefix; made when first used */
	/* the fields of the request at hand, as JSON */
	struct buffer messages, name, id, session, model, answer, blocks, parents, tags, class_tags, class_body, scope,
		query;
};

/* `media` may be NULL. */
int trace_renderer_init(struct trace_renderer *r, const struct prep_config *config, struct request_sink *requests,
                        struct media_store *media, struct selection_counts *counts, struct ipf_error *err);
void trace_renderer_release(struct trace_renderer *r);

/* Learns which blocks follow the same beginning. Call it with every record in the order of the data. */
void trace_renderer_learn_blocks(struct trace_renderer *r, const struct draft *d);
/* Remembers the texts of a record if prompts may have to be extended. */
void trace_renderer_learn_text(struct trace_renderer *r, const struct draft *d);
/* Should more records be read before the first request is written, so there is text to extend prompts with? */
bool trace_renderer_wants_more(const struct trace_renderer *r);
/* Hands over the requests of a draft. */
int trace_renderer_write(struct trace_renderer *r, struct draft *d, struct ipf_error *err);

/* The tokens of the messages of a request and of its answer, as they are in the data. Each text is counted once. */
int64_t messages_tokens(const struct token_counter *tokens, struct draft *d, const struct draft_request *request);
int64_t answer_tokens(const struct token_counter *tokens, struct draft_request *request);

#endif
