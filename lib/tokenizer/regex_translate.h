/* Translates a regular expression of Oniguruma (Ruby's syntax) into one of PCRE2 with the same matches. */
#ifndef IPF_TOKENIZER_REGEX_TRANSLATE_H
#define IPF_TOKENIZER_REGEX_TRANSLATE_H

#include "buffer.h"
#include "error.h"

/* Appends the translation to `out`. -1 with an error that quotes the pattern and says which byte is not supported. */
int regex_translate(struct slice pattern, struct buffer *out, struct ipf_error *err);

#endif
