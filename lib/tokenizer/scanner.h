/* Hand-written scanners: where the next word of a text ends, for the well-known chains of pre-tokenizers.
 *
 * A scanner knows one chain of pre-tokenizers by its exact configuration and gives what the chain's regular expressions
 * give; the property test in tests/unit holds each against PCRE2, and the comparison with the reference against
 * Oniguruma.
 */
#ifndef IPF_TOKENIZER_SCANNER_H
#define IPF_TOKENIZER_SCANNER_H

#include "tokenizer/character_classes.h"

#include <jansson.h>

/* Fills `ends` with the ends of the words from `begin` on, `room` at most, as offsets in the text; returns how many. */
typedef size_t scan_function(const struct character_classes *k, const char *text, size_t begin, size_t end,
                             size_t *ends, size_t room);

/* The scanner of a chain of Split and Digits steps followed by ByteLevel in byte mode (`config`: "pre_tokenizer"); NULL
 * for one that is not known. */
scan_function *scanner_for_chain(const json_t *config);

scan_function scan_gpt2;       /* ByteLevel with its own regular expression */
scan_function scan_gpt2_digit; /* the same behind Digits, each digit alone (Command R) */
scan_function scan_cl100k;     /* GPT-4, Llama 3 */
scan_function scan_qwen;       /* the same with digits alone */
scan_function scan_o200k;      /* GPT-4o, gpt-oss */
scan_function scan_tekken;     /* Mistral Nemo */
scan_function scan_deepseek;

/* The expressions as they stand in tokenizer.json. */
extern const char scan_regex_gpt2[], scan_regex_cl100k[], scan_regex_qwen[], scan_regex_o200k[], scan_regex_tekken[];
extern const char *const scan_regex_deepseek[3];

#endif
