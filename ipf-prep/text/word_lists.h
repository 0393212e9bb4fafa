/* The words that synthetic_text.c makes sentences of. */
#ifndef PREP_WORDS_H
#define PREP_WORDS_H

#define WORD_MAX 14 /* so that a word, its blank and its length fit in 16 bytes */

enum word_class { NOUN, ADJECTIVE, VERB, ADVERB, NAME, DETERMINER, PREPOSITION, CONJUNCTION, PLACE, WORD_CLASSES };

/* Words of a class with a blank between them. */
extern const char *const word_lists[WORD_CLASSES];

#endif
