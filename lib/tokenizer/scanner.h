/* Hand-written scanners: they find where words end, for well-known chains of pre-tokenizers.
 *
 * A scanner replaces one chain with one exact configuration, and gives the words the chain's regular expressions give.
 * A property test in tests/unit compares each with PCRE2; the comparison with the reference compares them with
 * Oniguruma.
 */
#ifndef IPF_TOKENIZER_SCANNER_H
#define IPF_TOKENIZER_SCANNER_H

#include "tokenizer/character_classes.h"

#include <jansson.h>

/* Sets `ends` to the ends of the words from `begin` on, as offsets in the text, up to `room` of them. Returns how many
 * there are. */
typedef size_t scan_function(const struct character_classes *k, const char *text, size_t begin, size_t end,
                             size_t *ends, size_t room);

/* Returns the scanner of a chain of Split and Digits steps ending in ByteLevel, in byte mode. `config` is the value of
 * "pre_tokenizer". NULL: no scanner replaces this chain. */
scan_function *scanner_for_chain(const json_t *config);

scan_function scan_gpt2;       /* ByteLevel with its own regular expression */
scan_function scan_gpt2_digit; /* the same after Digits with individual digits (Command R) */
scan_function scan_cl100k;     /* GPT-4, Llama 3 */
scan_function scan_qwen;       /* the same with single digits */
scan_function scan_o200k;      /* GPT-4o, gpt-oss */
scan_function scan_tekken;     /* Mistral Nemo */
scan_function scan_deepseek;

/* The regular expressions as in tokenizer.json. */
extern const char scan_regex_gpt2[], scan_regex_cl100k[], scan_regex_qwen[], scan_regex_o200k[], scan_regex_tekken[];
extern const char *const scan_regex_deepseek[3];

#endif
