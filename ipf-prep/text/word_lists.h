/* The words of synthetic sentences (synthetic_text.h), by class. */
#ifndef PREP_WORD_LISTS_H
#define PREP_WORD_LISTS_H

#define WORD_MAX 14 /* bytes: a word, its space and its length fit in 16 bytes */

enum word_class { NOUN, ADJECTIVE, VERB, ADVERB, NAME, DETERMINER, PREPOSITION, CONJUNCTION, PLACE, WORD_CLASSES };

/* The words of a class, separated by spaces. */
extern const char *const word_lists[WORD_CLASSES];

#endif
