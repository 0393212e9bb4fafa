/* Added tokens: found in a text before everything else, the longest first, and never split. */
#ifndef IPF_TOKENIZER_ADDED_H
#define IPF_TOKENIZER_ADDED_H

#include "tokenizer/compiled.h"

struct added_pattern {
	const char *text;
	uint32_t len, id;
	uint8_t lstrip, rstrip, single_word;
};

/* Patterns that are matched together, in byte order; ranges by first byte. */
struct added_set {
	struct added_pattern *patterns;
	size_t count;
	uint32_t first[257];
	bool begins[256];
	int only; /* the first byte of all of them, -1 where there are several */
};

struct added {
	struct added_set raw, normalized;
	struct buffer normal_texts;
	const struct added_record *records; /* all of them, by id */
	struct added_record *sorted;
	const char *texts;
	size_t count;
};

int added_init(struct added *a, const struct compiled *block, const struct normalizer *normalizer,
               struct ipf_error *err);
void added_release(struct added *a);
/* The token of that id; NULL. */
const struct added_record *added_by_id(const struct added *a, uint32_t id);
/* What decoding gives for it: its normalized form where it has one. */
struct slice added_text(const struct added *a, const struct added_record *record);

/* One walk over a text. */
struct added_walk {
	size_t at;   /* where the next match may begin */
	size_t done; /* what is before was given out */
};
struct added_match {
	size_t begin, end;
	uint32_t id;
};
/* The next token: text[walk->done before the call, match->begin) has none in it. False at the end. */
bool added_next(const struct added_set *set, const char *text, size_t len, struct added_walk *walk,
                struct added_match *match);

#endif
