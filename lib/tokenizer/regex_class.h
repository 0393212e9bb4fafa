/* Translates a class in brackets: items, nested classes, intersections. */
#ifndef IPF_TOKENIZER_REGEX_CLASS_H
#define IPF_TOKENIZER_REGEX_CLASS_H

#include "tokenizer/regex_translator.h"

/* t->at is after the '['; the class is appended to t->out. */
int regex_class_translate(struct translator *t);

#endif
