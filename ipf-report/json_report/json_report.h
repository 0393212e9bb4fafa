/* The JSON report as an object, as ipf-report(1) describes it. Formats read the figures of a run from it, so every
 * format has the same numbers under the same names, and a new figure is in all of them.
 *
 *     json_t *json = report_json(&report);                                       // the whole report
 *     json_t *json = report_json_members(&report, REPORT_VERDICT | REPORT_TOTAL); // only these: others cost nothing
 *     … figure_at(json, "total/rate/offered") …                                  // json_path.h
 *
 * A new member is a row of the table below and its builder.
 */
#ifndef REPORT_JSON_REPORT_H
#define REPORT_JSON_REPORT_H

#include "json_report/report.h"

struct figures;

/* The members, in their order: constant, name, builder. A builder returns a new value; the report does not have a
 * member whose value is NULL or empty. */
#define REPORT_MEMBERS(MEMBER)                                                                                         \
	MEMBER(VERDICT, "verdict", json_verdict)                                                                           \
	MEMBER(RUN, "run", json_run)                                                                                       \
	MEMBER(STAGES, "stages", json_stages)                                                                              \
	MEMBER(BURSTS, "bursts", json_bursts)                                                                              \
	MEMBER(STEADY, "steady", json_steady)                                                                              \
	MEMBER(ANSWERS, "answers", json_answers)                                                                           \
	MEMBER(ERRORS, "errors", json_errors)                                                                              \
	MEMBER(INVALID_OUTPUTS, "invalid_outputs", json_invalid_outputs)                                                   \
	MEMBER(TOTAL, "total", json_total)                                                                                 \
	MEMBER(ACCURACY, "accuracy", json_run_accuracy)                                                                    \
	MEMBER(CLOCKS, "clocks", json_clocks)                                                                              \
	MEMBER(TRANSPORT, "transport", json_transport)                                                                     \
	MEMBER(SATURATION, "saturation", json_saturation)                                                                  \
	MEMBER(OBJECTIVES, "objectives", json_load_objectives)                                                             \
	MEMBER(AUTOSCALING, "autoscaling", json_autoscaling)                                                               \
	MEMBER(SESSIONS, "sessions", json_sessions)                                                                        \
	MEMBER(REPEATS, "repeats", json_repeats)                                                                           \
	MEMBER(CACHE, "cache", json_cache)                                                                                 \
	MEMBER(FIDELITY, "fidelity", json_fidelity)                                                                        \
	MEMBER(REFERENCE, "reference", json_reference)                                                                     \
	MEMBER(WHY, "why", json_why)                                                                                       \
	MEMBER(SERIES, "series", json_series)                                                                              \
	MEMBER(SERVER, "server", json_server)                                                                              \
	MEMBER(ACCELERATORS, "accelerators", json_accelerators)                                                            \
	MEMBER(COST, "cost", json_cost)                                                                                    \
	MEMBER(AS, "as", json_said)                                                                                        \
	MEMBER(SHAPE, "shape", json_shape)                                                                                 \
	MEMBER(TIME_LINE, "time_line", json_time_line)                                                                     \
	MEMBER(OUTLIERS, "outliers", json_outliers)                                                                        \
	MEMBER(OPTIONS, "options", json_options)                                                                           \
	MEMBER(PLOTS, "plots", json_plot_data)

/* REPORT_VERDICT, REPORT_RUN, …: a bit for each member. */
#define REPORT_MEMBER_NUMBER(id_, name_, build_) REPORT_NUMBER_OF_##id_,
enum { REPORT_MEMBERS(REPORT_MEMBER_NUMBER) REPORT_MEMBER_COUNT };
#define REPORT_MEMBER_BIT(id_, name_, build_) REPORT_##id_ = 1u << REPORT_NUMBER_OF_##id_,
enum report_members { REPORT_MEMBERS(REPORT_MEMBER_BIT) REPORT_ALL = (1u << REPORT_MEMBER_COUNT) - 1 };

#define REPORT_MEMBER_BUILDER(id_, name_, build_) json_t *build_(const struct report *report);
REPORT_MEMBERS(REPORT_MEMBER_BUILDER)

/* A new object with "ipf" and "version", and all members. */
json_t *report_json(const struct report *report);
/* The same with the members of these bits only. */
json_t *report_json_members(const struct report *report, unsigned members);

/* Figures of a stage, of a member of a grouping, or of the total: a new object, BLOCK in ipf-report(1). The catalogue
 * of figures lists its members (catalogue/catalogue.h). */
json_t *json_block(const struct report *report, const struct figures *f);
/* The error bars in it; empty if none is known. */
json_t *json_accuracy(const struct report *report, const struct figures *f);

#endif
