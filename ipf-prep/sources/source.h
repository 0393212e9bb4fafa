/* The dataset and trace formats ipf-prep reads, behind one interface: a file ipf-prep/formats/NAME.json for each that
 * only has values in some places, a file from_NAME.c for each with rules of its own.
 *
 * A format declares the unit in which it reads its files (JSON record, line, CSV row, whole file). It gets one unit
 * at a time, makes drafts of it (none, one or several) and hands each to the sink. source_reader.h does the rest:
 * opening, decompressing, splitting, parsing, counting, and reporting of bad records.
 *
 * To add a format, copy a file of ipf-prep/formats. If that does not do, write from_NAME.c with one definition
 *
 *     const struct source_format source_NAME = {
 *         .name = "NAME", .about = "…", .kind = SOURCE_DATASET, .unit = UNIT_JSON, .read_record = read_record };
 *
 * and add NAME, with its group, to the table in source.c.
 */
#ifndef PREP_SOURCE_H
#define PREP_SOURCE_H

#include "capture/capture_settings.h"
#include "capture/packet_file.h"
#include "cli/options.h"
#include "draft/distribution.h"
#include "draft/draft.h"
#include "draft/prefix_groups.h"
#include "input/csv.h"
#include "model/traffic_draw.h"
#include "sources/record_notes.h"
#include "sources/sniff.h"
#include "tokenizer/token_counter.h"

enum source_kind {
	SOURCE_DATASET,   /* texts */
	SOURCE_TRACE,     /* recorded requests: arrivals, lengths */
	SOURCE_GENERATED, /* reads no file: makes requests of lengths it draws */
};

/* Where a list of all formats has it. */
enum source_group {
	SOURCE_GROUP_DATASET,
	SOURCE_GROUP_TRACE,  /* a trace of single requests */
	SOURCE_GROUP_AGENTS, /* traces of conversations and agents */
	SOURCE_GROUP_LOG,    /* a log of servers and gateways */
	SOURCE_GROUP_GENERATED,
	SOURCE_GROUPS
};

/* The arguments of one call of read_record. */
enum source_unit {
	UNIT_JSON,   /* a JSON record: an element of an array, a line of JSON Lines, or a single object */
	UNIT_OTLP,   /* a JSON record, also made of a message of OTLP in protocol buffers */
	UNIT_LINE,   /* a line of text */
	UNIT_CSV,    /* a row of a CSV file with a header */
	UNIT_TABLE,  /* JSON or CSV, by the file's first byte; a CSV row also comes as a JSON object of strings */
	UNIT_FILE,   /* a whole file as text */
	UNIT_PACKET, /* a packet of a capture */
	UNIT_NONE,   /* nothing: read_record makes a request or session at each call, until the sink is full */
};

/* The data of a format. An option needing a trait is refused for a format lacking it. */
enum source_trait {
	HAS_TURNS = 1,    /* records are conversations: --turns */
	HAS_FIELDS = 2,   /* --field says where the values are */
	HAS_TIMES = 4,    /* recorded arrivals, in order unless it GATHERS: --from, --to */
	HAS_SESSIONS = 8, /* records may be turns of sessions: --wait */
	GATHERS = 16,     /* related records may be far apart: all are sorted at the end */
	MAKES_TEXT = 32,  /* only lengths are known; prompts are synthetic: --salt */
	HAS_AGENTS = 64,  /* sessions may have sub-agents: --sub-agents */
	/* A block id also identifies all blocks before it: two prompts differ right after their last common id. */
	HAS_BLOCKS = 128,
	KEEPS_START = 512,    /* the data say when the trace starts: the first arrival may be later */
	HAS_PACKETS = 1024,   /* it is a capture: --records and the options beside it */
	DEALS_PREFIXES = 256, /* its prompts have the prefixes of --prefixes already: --hit-rate, --groups */
};

/* One unit of input. */
struct source_record {
	int64_t number;          /* counted over all files, from 1 */
	const char *file;        /* UNIT_NONE: NULL */
	int file_index;          /* from 0 */
	int64_t line;            /* in the file, from 1 */
	const struct jdoc *json; /* UNIT_JSON, UNIT_OTLP, UNIT_TABLE */
	struct slice text; /* UNIT_LINE: valid UTF-8 without the line end; UNIT_FILE: the bytes of the file, unchecked */
	const struct csv *csv;             /* UNIT_CSV; UNIT_TABLE if the file is CSV, else NULL */
	const struct packet *packet;       /* UNIT_PACKET; NULL: the file has ended */
	const struct packet_file *packets; /* the file it is in */
	bool live;                         /* the input is no regular file: packets come as they are captured */
};

/* Receives drafts. */
struct sink {
	struct draft draft; /* scratch space for the format; emptied before each record */
	/* Takes a draft: 0, -1 on error. The draft may be reused afterwards. */
	int (*take)(struct sink *sink, struct draft *draft, struct ipf_error *err);
	/* The record is valid but gives no request: counts it under `why` ("no answer"). Not an error. */
	void (*unusable)(struct sink *sink, const char *why);
	/* The same for a record that is none of a request, such as a log line of something else: only -v reports it. */
	void (*no_request)(struct sink *sink, const char *why);
	/* Something of a request handed over is not in the trace as it was recorded: counts the request under `how`, a
	 * literal ("extra has members that are not passed on"), which is reported. */
	void (*inexact)(struct sink *sink, const char *how);
	bool full;       /* no more drafts are wanted: reading ends */
	const char *cut; /* during `finish`: why reading ended before the end of the input; NULL: it did not */
	/* Gets each record that is unusable and each member nothing read. A format that parses a string of JSON watches
	 * that document (jdoc_watch) and hands it to record_notes_members(). NULL: no notes are taken. */
	struct record_notes *notes;
};

/* The command line's settings for a format. */
struct source_settings {
	struct string_list fields; /* NAME=/POINTER, as given */
	bool lone;                 /* only the first request of a conversation is wanted */
	bool drop_agents;          /* leave out the requests of sub-agents */
	bool first_two;            /* the first two turns of a conversation are prompt and answer, whatever their roles */
	bool answers_optional;     /* the length of answers is drawn: a request needs no recorded answer */
	int64_t n;                 /* number of requests wanted; IPF_ABSENT if not limited */
	int64_t from_ns, to_ns;    /* the time slice; IPF_ABSENT if not limited */
	uint64_t seed;
	const struct token_counter *tokens;
	const struct capture_settings *capture; /* for captures */
	const struct distribution *input; /* the prompt lengths to make; kind DISTRIBUTION_DATASET: those of the data */

	/* the rest is for formats that generate */
	int64_t sessions; /* wanted; IPF_ABSENT if not limited. One of `n` and `sessions` is. */
	const struct distribution *output, *turns;
	const struct prefix_groups *prefixes; /* count 0: not given */
	int64_t groups;                       /* IPF_ABSENT: not given */
	double hit_rate;                      /* NAN: not given */
	const struct traffic_mix *like;       /* models to make requests by; NULL: not given */
	double like_scale;                    /* times their rate */
	bool completion;                      /* prompts are texts to complete */
	int64_t template_tokens;              /* that the chat template adds to a prompt; part of its length */
};

struct source_format {
	const char *name;
	const char *about; /* one line, for --list */
	enum source_kind kind;
	enum source_unit unit;
	unsigned traits;    /* those it may have, if it has traits_of (synthetic: without --like) */
	const char *filled; /* how prompts are made if only lengths are known; NULL: never */
	/* Members looking like part of a request and are left out on purpose, as record_notes.h has them: NULL or names
	 * separated by spaces. ipf-prep-formats(5) says why. */
	const char *ignored;
	/* If a folder is given, only files with this ending are read; NULL: all of them. */
	const char *ending;
	const struct layout *layout; /* formats/layout.h, of which the state begins with the address; NULL: there is none */
	size_t state_size;           /* bytes of the state every call gets, zeroed before `open`; 0: `state` is NULL */

	/* Only `read_record` is required. Each returns 0, or -1 with `err` set. */

	/* Prepares the zeroed state. `close` follows also if it fails. */
	int (*open)(void *state, const struct source_settings *settings, struct ipf_error *err);
	/* A file begins; its CSV header has been read, if it has one (else `csv` is NULL). An error ends the reading. */
	int (*begin_file)(void *state, const struct csv *csv, struct ipf_error *err);
	/* Makes drafts of a record. An error of kind IPF_INPUT means the record is bad: it is reported, skipped and
	 * counted. Any other error ends the reading. */
	int (*read_record)(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err);
	/* All files have been read: makes the drafts needing all of them. An error of kind IPF_CUT means the end of the
	 * input is missing; earlier records stay. Any other is fatal. */
	int (*finish)(void *state, struct sink *sink, struct ipf_error *err);
	/* Adds members to the header of the trace, which then is written when the first request is, or at the end. NULL:
	 * nothing, and the header comes first. */
	void (*describe)(const void *state, json_t *header);
	/* Does the beginning of a file match this format? NULL: `auto` never picks it. */
	bool (*recognises)(const struct sniff *sniff);
	/* The traits, if they depend on the settings; NULL: always `traits`. */
	unsigned (*traits_of)(const void *state);
	/* Releases the state's members, not the state itself. */
	void (*close)(void *state);
};

/* Makes the state of a format under these settings: 0, or -1 (then there is none). Ends with source_close. */
int source_open(const struct source_format *format, const struct source_settings *settings, void **state,
                struct ipf_error *err);
void source_close(const struct source_format *format, void *state); /* NULL is fine */

/* Is a file of this format, by its beginning? */
bool source_recognises(const struct source_format *format, const struct sniff *sniff);

/* The table, i = 0, 1, … until NULL, in the order in which `auto` asks. */
const struct source_format *source_at(size_t i);
enum source_group source_group_of(const struct source_format *format);
/* By name, or by the path of a file describing one (it has a slash, or ends in .json). NULL and an error: IPF_USAGE
 * with the known names, IPF_INPUT if the description is wrong. */
const struct source_format *source_find(const char *name, struct ipf_error *err);

#endif
