/* The post-processor of a tokenizer: the special tokens around the ids of a single text, such as [CLS] and [SEP]. */
#ifndef IPF_TOKENIZER_POSTPROCESS_H
#define IPF_TOKENIZER_POSTPROCESS_H

#include "error.h"
#include "tokenizer/token_ids.h"

#include <jansson.h>

struct postprocess {
	struct token_ids before, after;
};

/* `config` is the value of "post_processor". ByteLevel and null add nothing. A template without exactly one $A is an
 * error naming it. */
int postprocess_new(struct postprocess *post, const json_t *config, struct ipf_error *err);
void postprocess_release(struct postprocess *post);

#endif
