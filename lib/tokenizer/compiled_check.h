/* Checks a compiled block coming from disk: whatever its bytes are, using it afterwards reads inside of it, and every
 * loop over its tables ends. A checksum (compiled_block.h) only detects damage; a program with an error in it, or a
 * person, writes right checksums over wrong contents.
 *
 * The configuration is not looked at: it is read like that of a tokenizer.json.
 */
#ifndef IPF_TOKENIZER_COMPILED_CHECK_H
#define IPF_TOKENIZER_COMPILED_CHECK_H

#include "tokenizer/compiled_block.h"

/* Takes a few milliseconds for a large vocabulary. The sections are inside the block (compiled_is_sound). */
bool compiled_is_consistent(const struct compiled_block *block);

#endif
