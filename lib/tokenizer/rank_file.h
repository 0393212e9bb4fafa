/* Reads a rank file of tiktoken (NAME.tiktoken) and compiles it: one token in base64 and its rank per line. The file
 * has neither the rule that splits text nor the special tokens, so they are chosen by its name.
 */
#ifndef IPF_TOKENIZER_RANK_FILE_H
#define IPF_TOKENIZER_RANK_FILE_H

#include "tokenizer/compiled_block.h"

/* Sets `*kind` to "" if the path does not name a rank file, else to the encoding its name gives (".cl100k" and the
 * like). -1 if the encoding is unknown. */
int rank_file_kind(const char *path, const char **kind, struct ipf_error *err);
/* `kind` comes from rank_file_kind; `sha256` is the hex digest of the text. */
int rank_file_compile(struct compiled_block *out, const char *kind, struct slice text, const char *sha256,
                      struct ipf_error *err);

#endif
