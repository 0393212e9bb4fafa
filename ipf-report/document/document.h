/* A report as a person reads it, apart from how it looks: sections of facts, tables, notes, pictures and commands.
 * Sections (ipf-report/sections/) build it from the JSON report; renderers draw all of it and know no topic:
 * document_text.h (a terminal), html/document_html.h (a page) and document_md.h (Markdown).
 *
 *     struct document d = {.title = "…"};
 *     doc_section(&d, "cost", "Cost");
 *     doc_fact(&d, "price", "%s an hour", number);
 *     static const struct doc_column columns[] = {{.name = "rate", .unit = "per s", .path = "rate/offered"}, …};
 *     struct doc_table *t = doc_table(&d, &(struct doc_table_spec){"stages", "Load", columns, 2, …});
 *     doc_row_of(&d, t, "stage 1", NULL, stage_json);
 *     …
 *     document_release(&d);
 *
 * Texts may come from outside: a renderer makes each safe. All are copied and of any length. A section without parts is
 * not shown. When memory runs out, `failed` is set and later parts are ignored.
 */
#ifndef REPORT_DOCUMENT_H
#define REPORT_DOCUMENT_H

#include "buffer.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum tone { TONE_PLAIN, TONE_FAINT, TONE_GOOD, TONE_WARN, TONE_BAD, TONE_STRONG };

/* Which renderers show a part. */
enum media { IN_TEXT = 1, IN_PAGE = 2, IN_MARKDOWN = 4, EVERYWHERE = 7 };

enum cell_kind {
	CELL_NUMBER,     /* three significant digits */
	CELL_COUNT,      /* whole, thousands separated */
	CELL_PERCENT,    /* a share as percent */
	CELL_PERCENTILE, /* a number, marked if "n" beside it is too few; the path ends in its name, such as p99 */
	CELL_RANGE,      /* [interpolated, lowest, highest] as "LOW to HIGH" */
	CELL_WORDS,      /* text; long ones have lines of their own in the text report */
};

/* Which columns a table keeps on a screen too narrow for all. */
enum keep {
	KEEP,      /* always; a full report continues the table below if it must */
	KEEP_FULL, /* the same, but a brief report leaves it out */
	KEEP_ROOM, /* only if there is room; a page always has room */
};

struct doc_column {
	const char *group; /* above this column and its neighbours of the same group; NULL */
	const char *name, *unit;
	const char *path; /* the figure's path in the JSON of a row; NULL: cells are added one by one */
	enum cell_kind kind;
	enum keep keep;
};

struct doc_cell {
	const char *text; /* NULL: the figure does not exist */
	double value;     /* by which a page sorts; NAN: none */
	enum cell_kind kind;
	enum tone tone;
	bool weak; /* a percentile of too few samples */
};

struct doc_row {
	const char *name, *remark; /* remark NULL: none */
	const char *definition;    /* name of its definition; NULL */
	bool aside;                /* not measured */
	bool total;                /* the sum of the rows above */
	struct doc_cell *cells;    /* as many as the table has columns */
	int filled;
};

struct doc_table_spec {
	const char *id;      /* the page's: letters, digits, hyphens */
	const char *caption; /* "Latency, ms" */
	const char *rows;    /* heading of the rows' names: "stage" */
	const struct doc_column *columns;
	int count;
	bool sortable; /* the order of the rows carries no meaning */
	bool whole;    /* whole figures have no decimals: tokens */
	bool few;      /* text and Markdown have DOC_ROWS_FEW rows at most */
	int media;     /* 0: everywhere */
};

struct doc_table {
	struct doc_table_spec spec;
	struct doc_row *rows;
	size_t count, cap;
	size_t left_out; /* rows beyond DOC_ROWS_MOST */
	bool weak;
};
enum { DOC_ROWS_MOST = 200, DOC_ROWS_FEW = 40 };

/* The meaning of the mark of a weak percentile. */
#define DOC_WEAK "~ too few samples for this percentile: p90 needs 44, p99 459, p99.9 4,603"

enum part_kind {
	PART_FACT,     /* label, text, hint */
	PART_TEXT,     /* a paragraph; label: its first words, stressed */
	PART_NOTE,     /* small print */
	PART_HEADING,  /* within the section */
	PART_ITEM,     /* a list's */
	PART_CHECK,    /* label, status, text: a question and its answer; hint: the first words of the reason, or NULL */
	PART_TILE,     /* label, text, value, unit, hint: a figure read first */
	PART_LEVELS,   /* label, levels, text: a row of bars */
	PART_COMMAND,  /* a line for a shell */
	PART_CODE,     /* label: its name; text: lines */
	PART_TERM,     /* label, text: a definition; unit: its id or NULL */
	PART_PICTURES, /* text: HTML elements of our own, which a page takes as they are; label: their class in report.css
	                */
	PART_TABLE,
};

struct doc_part {
	enum part_kind kind;
	int media;
	enum tone tone;
	const char *label, *text, *status, *hint, *unit;
	double value;
	double *levels; /* from 0 to 1; NAN: none */
	int level_count;
	struct doc_table *table;
};

struct doc_section {
	const char *id, *title;
	bool folded; /* Markdown: shown on demand */
	struct doc_part *parts;
	size_t count, cap;
};

struct doc_block;

struct document {
	const char *kind;                   /* the document's kind: "ipf report" */
	const char *title, *heading, *when; /* the window's; the run's name; where and when it was */
	bool brief;                         /* a first screen: columns without room are left out */
	bool plots;                         /* has gnuplot's pictures */
	bool failed;
	struct doc_section *sections;
	size_t count, cap;
	struct doc_block *blocks; /* memory of texts */
};

void document_release(struct document *d);

/* Copies a text, which lives as long as the document. "" when memory runs out. */
const char *doc_copy(struct document *d, const char *text); /* NULL stays NULL */
/* A copy in which another character stands for each of these. */
const char *doc_replace(struct document *d, const char *text, const char *these, char by);
const char *doc_say(struct document *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Room for so many numbers; NULL: out of memory. */
double *doc_numbers(struct document *d, size_t count);

/* Begins a section, to which everything from here on belongs. */
void doc_section(struct document *d, const char *id, const char *title);

/* ---- parts: each returns the part, in which the caller can set media, tone, hint …; never NULL ---- */

struct doc_part *doc_part(struct document *d, enum part_kind kind, const char *label, const char *text);
struct doc_part *doc_fact(struct document *d, const char *label, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
struct doc_part *doc_note(struct document *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- tables ---- */

/* Never NULL. The spec's strings and columns are copied, but for paths and kinds that are constants. */
struct doc_table *doc_table(struct document *d, const struct doc_table_spec *spec);
/* Begins a row. */
struct doc_row *doc_row(struct document *d, struct doc_table *t, const char *name, const char *remark);
/* The next cell of the row. */
void doc_cell_text(struct document *d, struct doc_table *t, const char *text, enum tone tone);
void doc_cell_figure(struct document *d, struct doc_table *t, double value, enum cell_kind kind);
/* Has the distribution too few samples for its percentile of this name, "p99"? */
bool doc_is_weak(json_t *distribution, const char *name);
/* The percentile `name` of a distribution, marked if it has too few samples. */
void doc_cell_percentile(struct document *d, struct doc_table *t, const char *name, json_t *distribution);
/* A figure in words: "+5.1 %". NAN: a dash. */
void doc_cell_said(struct document *d, struct doc_table *t, double value, const char *text, enum tone tone);
/* A whole row: each column's path in `json`. */
struct doc_row *doc_row_of(struct document *d, struct doc_table *t, const char *name, const char *remark, json_t *json);
/* How many rows text and Markdown have. */
size_t doc_rows_few(const struct doc_table *t);
/* A row for each element of an array; its name is at the path `name`. */
void doc_rows_of(struct document *d, struct doc_table *t, json_t *array, const char *name);

#endif
