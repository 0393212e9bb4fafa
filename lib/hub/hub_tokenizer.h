/* Opens tokenizers by name, as the option --tokenizer of every program takes them:
 *
 *     approx                           four bytes a token
 *     tokenizer.json, models/gpt2/     a file or a folder, if there is one of this name
 *     gpt2, OWNER/NAME[@REVISION]      a model of the Hugging Face hub, from its cache or fetched once (hub_file.h)
 *     hf://OWNER/NAME[@REVISION]       the same, also if there is a file or folder of this name
 */
#ifndef IPF_HUB_TOKENIZER_H
#define IPF_HUB_TOKENIZER_H

#include "error.h"
#include "tokenizer/token_counter.h"
#include "tokenizer/tokenizer.h"

/* `say` prints a line on standard error, after the program's name: before a file is fetched, also if the program is
 * told to be quiet. IPF_USAGE for a name that cannot be one, IPF_SYSTEM if there is none or it cannot be fetched. */
int hub_token_counter_open(struct token_counter **counter, const char *name, void (*say)(const char *line),
                           struct ipf_error *err);
int hub_tokenizer_open(struct tokenizer **tokenizer, const char *name, void (*say)(const char *line),
                       struct ipf_error *err);

#endif
