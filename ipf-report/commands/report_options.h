/* The options of ipf-report and of its commands, parsed once. Each command has a table of those it takes
 * (option_rows.h), and all of them fill this struct:
 *
 *     struct report_options options;
 *     report_options_init(&options);
 *     if (!program_start(&program, argc, argv, &options, &operands, &status)) …
 *     if (report_options_check(&options, &err) < 0) …       // combinations that exclude each other
 *     report_options_release(&options);
 */
#ifndef REPORT_REPORT_OPTIONS_H
#define REPORT_REPORT_OPTIONS_H

#include "analysis/cost.h"
#include "cli/options.h"
#include "other_tools/said.h"
#include "delivery/delivery.h"
#include "document/document_text.h"
#include "figures/figures.h"
#include "figures/make_groups.h"
#include "results/slo.h"

enum undecided_choice { UNDECIDED_FAIL, UNDECIDED_PASS };

struct report_options {
	struct common_options common;
	/* Formats are indices; -1 until format_of_name has set a default. */
	int format;             /* into report_formats */
	int compare_format;     /* for `ipf-report compare`: into compare_format_names */
	int gateway_format;     /* for `ipf-report gateway`: into its names */
	int certificate_format; /* for `ipf-report certificate`: into certificate_format_names */
	struct grouping_choice by;
	struct price price;
	struct figure_options figures;
	struct slo slo;
	int64_t accuracy_ns; /* IPF_ABSENT: no limit */
	const char *stage;
	const char *trace;               /* NULL: not given */
	const char *why;                 /* a file of ipf-twin why; NULL: not given */
	int64_t cache_size, cache_block; /* tokens; 0: not given */
	bool strict, ascii, curve, full;
	const char *sections; /* --section; NULL: those of the depth */
	bool certificate;     /* the command, which has formats of its own */
	const char *plots;    /* the folder; NULL */
	bool only_plots;      /* write no report */
	bool exported;        /* the format is an operand, not the value of -f */
	int plot_format;      /* enum plot_format; -1: the default */
	int table;            /* into parquet_table_names; -1: the default */
	int from;             /* index into importer_names; IMPORT_AUTOMATIC */
	json_t *meta;         /* object; NULL: none */
	struct said said;
	double min_effect; /* NAN: the default */
	struct string_list fail_if;
	bool as_is;    /* whatever the declared states of the prefix cache */
	int undecided; /* enum undecided_choice: of undecided conditions */
	struct delivery_options delivery;
};

extern const char *const certificate_format_names[]; /* "text", "json"; NULL ends them */
/* As it stands before messages. */
#define REPORT_PROGRAM "ipf-report"

void report_options_init(struct report_options *options);
void report_options_release(struct report_options *options);

/* How text looks: as wide as the terminal, and with colours if it has these. */
struct text_style report_style(const struct report_options *options);
/* The contents of a format for people. */
struct report_view wanted_view(const struct report_options *options);
/* If no format was given: the one of the output's name, if it ends in one of `names` (or .htm, .xml, .prom), else the
 * first. IPF_USAGE: the name is a picture's. */
int format_of_name(int *format, const char *const names[], const struct report_options *options, struct ipf_error *err);
/* The words before a format in messages: "-f ", or "" if it is an operand. */
const char *report_format_option(const struct report_options *options);

/* Whether the options of a report go together. IPF_USAGE, or IPF_SYSTEM for a file of --push or --upload. */
int report_options_check(const struct report_options *options, struct ipf_error *err);
/* Whether the conditions of --fail-if can be parsed. IPF_USAGE. */
int compare_conditions_check(const struct report_options *options, struct ipf_error *err);

/* Parsers of values, for the tables. */
/* Completions for --by and --as. */
completion_list offer_grouping, offer_tool;
option_parser option_sections, option_percentiles, option_by, option_price, option_slo, option_as, option_meta,
	option_effect;
extern const char *const option_window_names[];
extern const char *const option_undecided_names[];

#endif
