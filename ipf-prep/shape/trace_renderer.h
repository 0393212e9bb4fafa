/* The last stage: gives drafts their lengths, system message, prefix and model, makes text where there is none, and
 * writes the trace's lines. What is drawn depends on the seed and the record's number alone, so that the same record
 * comes out the same whatever else is kept.
 */
#ifndef PREP_RENDER_H
#define PREP_RENDER_H

#include "text/exact_text.h"
#include "draft/flat_prompt.h"
#include "shape/prefix_siblings.h"
#include "shape/prep.h"
#include "stream/stream.h"
#include "shape/fit_length.h"
#include "shape/selection_counts.h"

struct renderer {
	const struct prep_plan *plan;
	struct stream_writer *writer;
	struct fit_length stretch;
	struct exact_text exact;
	struct flat_prompt flat;
	struct prefix_siblings kin; /* of blocks, where a model's tokenizer counts */
	struct selection_counts *tally;
	struct draft work; /* the messages of the request at hand, and space for texts */
	struct span {
		uint64_t key;
		size_t end;
	} * spans; /* the whole blocks that `made` begins with, and where each ends in it */
	size_t span_count, span_cap;
	struct buffer made, messages, id, session, model, answer, blocks, parents, tags, scope, line;
	struct buffer *prefixes; /* made when first used */
};

int renderer_init(struct renderer *r, const struct prep_plan *plan, struct stream_writer *writer,
                  struct selection_counts *tally, struct ipf_error *err);
void renderer_release(struct renderer *r);

/* Learns which blocks stand side by side: of every record, in the order of the data, so that what is selected of them
 * changes no text. */
void renderer_meet(struct renderer *r, const struct draft *d);
/* Remembers the data's texts where prompts may have to be extended. */
void renderer_feed(struct renderer *r, const struct draft *d);
/* Should more be read before the first request is written? */
bool renderer_is_hungry(const struct renderer *r);
/* Writes a draft's requests. */
int renderer_write(struct renderer *r, struct draft *d, struct ipf_error *err);

/* The tokens of a request's messages and of its answer, as they are in the data; each text is counted once. */
int64_t messages_tokens(const struct token_counter *tokens, struct draft *d, const struct draft_request *request);
int64_t answer_tokens(const struct token_counter *tokens, struct draft_request *request);

#endif
