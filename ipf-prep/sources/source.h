/* The formats that ipf-prep reads, a file from_NAME.c each, behind one small interface.
 *
 * A format says in which units it wants its data cut (JSON records, lines, CSV rows) and gets one at a time; it makes
 * drafts of it (none, one or several) and hands them to the sink. Opening files, decompression, splitting, parsing,
 * counting and complaining about bad records is done for it (reader.h). To add a format: write from_NAME.c, which
 * defines one
 *
 *     const struct source_format source_NAME = {
 *         .name = "NAME", .about = "…", .kind = SOURCE_DATASET, .unit = UNIT_JSON, .record = one_record };
 *
 * and put it in the table in source.c.
 */
#ifndef PREP_SOURCE_H
#define PREP_SOURCE_H

#include "input/csv.h"
#include "draft/distribution.h"
#include "draft/draft.h"
#include "cli/options.h"
#include "tokenizer/token_counter.h"

enum source_kind {
	SOURCE_DATASET, /* texts */
	SOURCE_TRACE,   /* recorded requests: arrivals, lengths */
};

enum source_unit {
	UNIT_JSON,
	UNIT_LINE,
	UNIT_CSV,
	UNIT_TABLE, /* JSON, or CSV, whose rows come as JSON objects of texts: by the first byte */
	UNIT_FILE,  /* a whole file at once, as text */
};

/* What a format's data are like. Options that make no sense for it are refused, so that none is ignored. */
enum source_trait {
	HAS_TURNS = 1,    /* its records are conversations: --turns */
	HAS_FIELDS = 2,   /* --field says what is where */
	HAS_TIMES = 4,    /* recorded arrivals: --from, --to; their order is part of them */
	HAS_SESSIONS = 8, /* its records may be turns of sessions: --wait */
	GATHERS = 16,     /* what belongs together may lie apart: all is held in memory and put in order at the end */
	HAS_AGENTS = 64,  /* its sessions may have sub-agents: --sub-agents */
	MAKES_TEXT = 32,  /* only lengths: prompts are made, --salt */
	HAS_BLOCKS =
		128, /* a block's id stands for all that is before it too: what is behind the same one differs at once */
};

/* One unit of input. */
struct source_record {
	int64_t number; /* over all inputs, from 1 */
	const char *file;
	int file_index; /* from 0 */
	int64_t line;
	const struct jdoc *json; /* UNIT_JSON, UNIT_TABLE */
	struct slice text;       /* UNIT_LINE: well-formed UTF-8, without its end; UNIT_FILE: as it stands */
	const struct csv *csv;   /* UNIT_CSV, and UNIT_TABLE where it is one */
};

/* Where drafts go. */
struct sink {
	struct draft draft; /* scratch for the format; reset before each record */
	/* Takes it: 0, -1 on error. */
	int (*take)(struct sink *sink, struct draft *draft, struct ipf_error *err);
	/* The record is in order but not for us: `why` ("no answer") is counted. Not an error. */
	void (*unusable)(struct sink *sink, const char *why);
	bool full; /* enough: reading ends */
};

/* The beginning of a file, for a format to know its own by. */
struct sniff {
	const struct jdoc *json; /* its first record; NULL where it is no JSON, or longer than what was looked at */
	const struct csv *csv;   /* its columns, if it were CSV; NULL for JSON */
	struct slice head;       /* as it stands */
};

/* What the user asked of a format. */
struct source_settings {
	struct string_list fields; /* NAME=/POINTER as given */
	bool lone;                 /* only a conversation's first request is wanted */
	bool drop_agents;          /* what sub-agents ask is left out */
	bool first_two;            /* of a conversation: the first two turns are prompt and answer, whoever speaks */
	bool answers_optional;     /* the length of answers is drawn: a request may come without one */
	int64_t n;                 /* how many requests are wanted; IPF_ABSENT */
	int64_t from_ns, to_ns;    /* the time slice; IPF_ABSENT */
	uint64_t seed;
	const struct token_counter *tokens;
	const struct distribution *input; /* what lengths to make; kind DISTRIBUTION_DATASET: the format's own */
};

struct source_format {
	const char *name;
	const char *about; /* one line, for --list */
	enum source_kind kind;
	enum source_unit unit;
	unsigned traits;
	const char *filled; /* how prompts are made where there are only lengths; NULL: never */

	/* All but `record` may be NULL. `state` is what open made of the settings. */
	int (*open)(void **state, const struct source_settings *settings, struct ipf_error *err);
	/* A file begins (UNIT_CSV: its header was read). An error ends the reading of this file. */
	int (*begin)(void *state, const struct csv *csv, struct ipf_error *err);
	/* Makes drafts of a record. IPF_INPUT: the record is bad; it is said, skipped and counted. */
	int (*record)(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err);
	/* All files were read: drafts of what could not be made before. */
	int (*end)(void *state, struct sink *sink, struct ipf_error *err);
	/* Does a file begin like one of this format? NULL: nobody can tell. */
	bool (*knows)(const struct sniff *sniff);
	/* The traits under these settings, where they depend on them; NULL: always `traits`. */
	unsigned (*traits_of)(const void *state);
	void (*close)(void *state);
};

/* For an `open` that needs memory of its own: *state becomes `size` bytes of zeroes, which free() takes back. */
int source_state(void **state, size_t size, struct ipf_error *err);

/* The table, i = 0, 1, … until NULL. */
const struct source_format *source_at(size_t i);
/* NULL and an error that lists the known ones (IPF_USAGE). */
const struct source_format *source_find(const char *name, struct ipf_error *err);

#endif
