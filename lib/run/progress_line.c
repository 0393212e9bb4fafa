#include "run/progress_line.h"

#include "cli/units.h"
#include "stream/record.h"

#include <stdio.h>
#include <string.h>

/* "3" or "3 (http-status 2, timeout 1)" */
static const char *failures(const struct run_counters *c, char text[160])
{
	int len = snprintf(text, 160, "%lld", (long long)counters_failed(c));
	bool any = false;
	for (int i = 0; i < RUN_ERRORS && len < 160; i++) {
		int64_t count = counters_sum(c, failed_by[i]) + counter_get(&c->broken_by[i]);
		const char *name = i == RECORD_OK ? "http-status" : count ? record_error_name((enum record_error)i) : NULL;
		if (count && name)
			len += snprintf(text + len, 160 - (size_t)len, "%s%s %lld", any ? ", " : " (", name, (long long)count);
		any |= count && name;
	}
	if (any && len < 159)
		strcpy(text + len, ")");
	return text;
}

void progress_line_show(const struct progress_line *line, struct progress *p, int64_t now)
{
	const struct run_counters *c = line->counters;
	double elapsed = (double)(now - line->zero_ns) / 1e9;
	int64_t started = counters_sum(c, started), lag = counter_get(&c->lag_p99_ns);
	char lag_text[32], of[32] = "", lag_shown[64] = "", failed[160];
	if (elapsed <= 0 && line->timed)
		progress_show(p, "starting in %.0f s  warm-up %lld/%lld", -elapsed, (long long)counters_sum(c, done),
		              (long long)line->warm);
	if (elapsed <= 0)
		return;
	if (line->planned)
		snprintf(of, sizeof of, "/%lld", (long long)line->planned);
	if (lag >= 0)
		snprintf(lag_shown, sizeof lag_shown, "  lag p99 %s", format_duration(lag, lag_text));
	progress_show(p, "%.0f s  started %lld%s  in flight %lld  done %lld  failed %s  %.1f req/s  %.2f MB/s%s", elapsed,
	              (long long)started, of, (long long)counter_get(&c->in_flight), (long long)counters_sum(c, done),
	              failures(c, failed), (double)started / elapsed, (double)counters_sum(c, bytes) / 1e6 / elapsed,
	              lag_shown);
}

void progress_line_summary(const struct progress_line *line, const char *program, int64_t unstarted, int64_t now)
{
	const struct run_counters *c = line->counters;
	int64_t started = counters_sum(c, started);
	char length[32], lag[32];
	fprintf(stderr, "%s: %lld request%s started in %s, %lld failed", program, (long long)started,
	        started == 1 ? "" : "s", format_duration(now > line->zero_ns ? now - line->zero_ns : 0, length),
	        (long long)counters_failed(c));
	if (unstarted)
		fprintf(stderr, ", %lld not started", (long long)unstarted);
	if (counter_get(&c->lag_p99_ns) >= 0)
		fprintf(stderr, ", lag p99 %s", format_duration(counter_get(&c->lag_p99_ns), lag));
	fputc('\n', stderr);
}
