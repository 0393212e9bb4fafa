/* Reads a Hugging Face tokenizer.json and compiles it. */
#ifndef IPF_TOKENIZER_TOKENIZER_JSON_H
#define IPF_TOKENIZER_TOKENIZER_JSON_H

#include "tokenizer/compiled_block.h"

/* `sha256` is the hex digest of the text, for the block's header. */
int tokenizer_json_compile(struct compiled_block *out, struct slice text, const char *sha256, struct ipf_error *err);

#endif
