/* The contents of a report, which the formats render. Whoever reads a part includes its header. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <jansson.h>
#include <stdbool.h>

struct report {
	const struct run_data *run;
	const struct run_figures *figures;
	const struct server_figures *servers;
	const struct analyses *analyses;
	const struct run_accuracy *accuracy;
	const struct trace_findings *trace;
	const struct price *price;
	const struct said *said; /* figures by the definitions of other tools; empty without --as */
	const struct figure_options *options;
	const struct verdict_finding *finding;
	json_t *plot_data;              /* "plots" of the JSON report, for formats with plots; NULL */
	const struct html_plots *plots; /* these drawn, for a page; NULL */
	struct report_output *output;   /* for formats rendering in pieces; NULL: the buffer takes all */
	json_t *why;                    /* for --why, as a member of the JSON report; NULL */
	json_t *verdict;                /* from verdict_json */
	json_t *run_info;               /* from run_info_json */
	const struct report_view *view; /* the view for people */
	const struct text_style *style; /* text: width, colour */
	const char *by;                 /* the grouping asked for, such as "model"; NULL */
	unsigned members;  /* members of the JSON report that are shown to people: REPORT_… of json_report.h */
	bool reproducible; /* without values changing from run to run although they were not measured: dates */
	int table;         /* parquet: index into parquet_table_names */
	bool curve;        /* csv: only the latency-throughput curve */
	bool verbose;      /* text: includes details of interest only if something is amiss */
};

#endif
