/* The options every program carrying out a schedule has: ipf-fire, and ipf-twin predict. A program puts the rows into
 * its table where they fit:
 *
 *     struct fire_options { struct common_options common; struct run_options run; … };
 *     static const struct option_spec specs[] = {
 *         RUN_ROW_TRACE(struct fire_options, run),
 *         …
 *     };
 *     struct fire_options o = {.common = COMMON_DEFAULTS, .run = RUN_OPTIONS_DEFAULTS};
 *     if (run_options_check(&o.run, &err) < 0) …
 */
#ifndef IPF_RUN_OPTIONS_H
#define IPF_RUN_OPTIONS_H

#include "balance_kind.h"
#include "cli/options.h"
#include "clock.h"
#include "run/cancel.h"
#include "run/stop_rule.h"

enum history_source {
	HISTORY_RECORDED,       /* later turns of a session repeat the answers in the trace */
	HISTORY_LIVE,           /* … the server's own */
	HISTORY_LIVE_REASONING, /* … and its reasoning */
	HISTORY_SERVER,         /* … are named by their ids, since the server has them */
};
extern const char *const history_names[]; /* the values of --history; NULL at the end */

struct run_options {
	const char *trace, *model;
	const char *name; /* the run's; NULL: that of the output */
	enum history_source history;
	enum balance_kind balance; /* BALANCE_KINDS: not given */
	struct cancels cancels;
	struct stop_rule stop_on;
	int64_t timeout_ns, first_token_timeout_ns; /* 0: no limit */
	int64_t grace_ns;
	int64_t memory_bytes; /* for requests in flight and unwritten records; 0: half of the machine's memory */
	int64_t max_answer;   /* bytes of one answer */
	bool force;           /* overwrite the records of a run */
	bool no_progress;     /* unless --progress wants it */
};
#define RUN_OPTIONS_DEFAULTS                                                                                           \
	{                                                                                                                  \
		.balance = BALANCE_KINDS, .stop_on = STOP_RULE_NONE, .max_answer = INT64_C(256000000),                         \
		.timeout_ns = 600 * NS_PER_S, .grace_ns = 30 * NS_PER_S                                                        \
	}

/* clang-format off */
#define RUN_ROW_TRACE(type_, run_) \
	OPTION(OPTION_FILE, 't', "trace", "FILE", type_, run_.trace, "trace of the requests: the one that the schedule was made for (default: the file that the schedule names)")
#define RUN_ROW_MODEL(type_, run_, default_) \
	OPTION(OPTION_TEXT, 'm', "model", "NAME", type_, run_.model, "model to request (default: " default_ ")")
#define RUN_ROW_BALANCE(type_, run_, among_, default_) \
	OPTION_CHOICE_OF(0, "balance", "round-robin|least|session", type_, run_.balance, balance_names, \
	     "how to choose among several " among_ ": in turn, by the fewest requests in flight, or one per session (default: " default_ ")")
#define RUN_ROW_HISTORY(type_, run_) \
	OPTION_CHOICE_OF(0, "history", "recorded|live|live-reasoning|server", type_, run_.history, history_names, \
	     "which answers later turns of a session repeat: those in the trace, the server's own, these with their reasoning, " \
	     "or only the id of the last one, which the server keeps (default: recorded)")
#define RUN_ROWS_TIMEOUT(type_, run_) \
	OPTION(OPTION_DURATION, 0, "timeout", "TIME", type_, run_.timeout_ns, \
	     "abort a request TIME after it starts (default: 10m; 0: no limit)"), \
	OPTION(OPTION_DURATION, 0, "first-token-timeout", "TIME", type_, run_.first_token_timeout_ns, \
	     "abort a request if no body byte arrives within TIME of its start (default: 0, no limit)")
#define RUN_ROW_CANCEL(type_, run_) \
	OPTION_PARSED_BY(0, "cancel", "SHARE@TIME|none", type_, run_.cancels, run_option_cancel, \
	     "simulate client disconnects: abort SHARE of the requests TIME after they start, such as 5%@2s; none: not even " \
	     "those recorded in the trace")
#define RUN_ROW_GRACE(type_, run_) \
	OPTION(OPTION_DURATION, 0, "grace", "TIME", type_, run_.grace_ns, \
	     "grace period for requests in flight after the first signal (default: 30s)")
#define RUN_ROW_STOP_ON(type_, run_) \
	OPTION_PARSED_BY(0, "stop-on", "errors=SHARE|COUNT", type_, run_.stop_on, run_option_stop_on, \
	     "end the run when too many requests have failed: more than a share of them, such as errors=5%, or COUNT")
#define RUN_ROWS_MEMORY(type_, run_) \
	OPTION(OPTION_SIZE, 0, "memory", "BYTES", type_, run_.memory_bytes, \
	     "limit the memory of requests in flight and unwritten records: the largest answers are cut first, then the run ends " \
	     "(default: half of the memory)"), \
	OPTION_PARSED_BY(0, "max-answer", "BYTES", type_, run_.max_answer, run_option_max_answer, \
	     "cut an answer larger than BYTES, at most 400MB; the time of each read counts as 24 (default: 256MB)")
#define RUN_ROWS_RECORDS(type_, run_) \
	OPTION(OPTION_TEXT, 0, "name", "NAME", type_, run_.name, \
	     "name of the run, shown in the report (default: the name of the --output file without its extensions)"), \
	OPTION_UNSHAPING(OPTION_FLAG, 0, "force", NULL, type_, run_.force, \
	     "replace the --output file even if it holds records of a run")
#define RUN_ROW_NO_PROGRESS(type_, run_) \
	OPTION_UNSHAPING(OPTION_FLAG, 0, "no-progress", NULL, type_, run_.no_progress, \
	     "show no progress, also on a terminal: another program follows the records")
/* clang-format on */

option_parser run_option_cancel, run_option_stop_on, run_option_max_answer;

/* Is the name one? -1: IPF_USAGE. */
int run_options_check(const struct run_options *options, struct ipf_error *err);
/* Records are not for people. -1: IPF_USAGE. */
int run_options_check_terminal(const struct common_options *common, struct ipf_error *err);
/* Does another program show the progress of the run? */
bool run_options_leave_progress(const struct run_options *options, const struct common_options *common);

#endif
