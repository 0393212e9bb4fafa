/* Access to the tokenizer behind <ipf/tokens.h>, for measuring. */
#ifndef IPF_TOKENIZERS_H
#define IPF_TOKENIZERS_H

#include "tokenizer/token_counter.h"

struct ipf_tokenizer;

/* Borrowed; NULL for NULL. */
const struct token_counter *tokenizer_counter(const struct ipf_tokenizer *tokenizer);

#endif
