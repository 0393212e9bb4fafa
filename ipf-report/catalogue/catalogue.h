/* The figures of a block (a stage, a member of a grouping, the total), one row each. Everything listing figures is made
 * from this table: the members of the JSON report, the columns of CSV, the families of Prometheus and the definitions
 * belonging to them.
 *
 *     const struct catalogue_figure *f = catalogue_find("latency/ttft_ms/from_due/p99");
 *     … f->unit …                                     // "ms"
 *     … definition_find(f->definition) …              // definition_list.h
 *
 * A new figure is a row here, a member of `struct figures`, its computation (figures/figures.c) and its definition
 * (definitions.txt).
 */
#ifndef REPORT_CATALOGUE_H
#define REPORT_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct figures;
struct metric_summary;

enum catalogue_kind {
	KIND_TEXT,
	KIND_FLAG,
	KIND_COUNT,        /* an integer; counts of stages may be added up */
	KIND_NUMBER,       /* any other number */
	KIND_RATE,         /* per second */
	KIND_SHARE,        /* 0 to 1 */
	KIND_DURATION,     /* one value's, in `unit` */
	KIND_DISTRIBUTION, /* DIST in ipf-report(1): its values in `unit` */
	KIND_COUNTS,       /* an object: a count for each of `names`, if it is not 0 */
	KIND_GROUP,        /* an object with a shape of its own */
	KIND_LIST,         /* objects with a shape of their own */
};

struct catalogue_figure {
	const char *path; /* in a block of the JSON report: "rate/offered" */
	const char *unit; /* "requests", "tokens/s", "ms", …; "": none */
	enum catalogue_kind kind;
	const char *definition; /* its name in the definitions; NULL: its path says it */
	/* The value is a member of `struct figures`, unless a function returns it. Neither for GROUP and LIST. */
	size_t offset;
	size_t due; /* for a latency with two distributions, the one from due; else 0 */
	double (*number)(const struct figures *f);
	const char *(*text)(const struct figures *f);
	const char *const *names;
	int name_count;
	bool positive;      /* a count of 0 is not shown */
	const char *column; /* CSV's; for a distribution, the first part of its columns; NULL: none */
	const char *point;  /* the same for --curve */
	const char *family; /* Prometheus's; NULL: none */
	const char *help;
};

enum { CATALOGUE_MOST = 192 };
extern const struct catalogue_figure catalogue[];
extern const size_t catalogue_count; /* at most CATALOGUE_MOST */

/* The figure at this path of a block, or its parent; NULL: there is none. */
const struct catalogue_figure *catalogue_find(const char *path);

/* The values of a figure. An absent number is NAN, a text NULL, a distribution one with n = 0. */
double catalogue_number(const struct catalogue_figure *figure, const struct figures *f); /* for a flag, too */
const int64_t *catalogue_counts(const struct catalogue_figure *figure, const struct figures *f);
const char *catalogue_text(const struct catalogue_figure *figure, const struct figures *f);
const struct metric_summary *catalogue_distribution(const struct catalogue_figure *figure, const struct figures *f);
const struct metric_summary *catalogue_from_due(const struct catalogue_figure *figure, const struct figures *f);

/* Lists the figures in the order of beginnings of paths, and returns their number.
 *
 *     catalogue_sorted(list, "rate/ tokens/source tokens/ *")     // first rates, then the source of tokens, …
 *
 * A path belongs to the longest word it begins with, "*" is any path; figures of a word keep the order of the
 * catalogue, and those belonging to none are left out. */
size_t catalogue_sorted(const struct catalogue_figure *list[CATALOGUE_MOST], const char *order);

#endif
