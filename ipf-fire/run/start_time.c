#include "run/start_time.h"

#include "clock.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/times.h"
#include "cli/units.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define SLICE_NS (200 * NS_PER_MS)
#define NEAR_NS  NS_PER_S /* from when on the clocks are not compared any more */
#define FAR_NS   (366 * 86400 * NS_PER_S)

#define DIGITS "0123456789"

/* time_parse takes more than RFC 3339: times without a zone, or with a blank. */
static bool parse_date(const char *text, int64_t *ns)
{
	struct ipf_error no = {0};
	size_t len = strlen(text);
	bool zone = len >= 20 &&
	            (text[len - 1] == 'Z' || (len >= 25 && text[len - 3] == ':' && strchr("+-", text[len - 6])));
	return zone && text[10] == 'T' && text[17] < '6' && time_parse(slice_of(text), ns, &no) == 0;
}

static bool parse_seconds(const char *text, int64_t *ns)
{
	size_t whole = strspn(text, DIGITS), fraction = text[whole] == '.' ? strspn(text + whole + 1, DIGITS) : 0;
	const char *end = text + whole + (fraction ? fraction + 1 : 0);
	return whole && fraction <= 9 && !*end && time_from_number(slice_of(text), NS_PER_S, ns) == 0;
}

int start_time_parse(const char *text, struct start_time *start, struct ipf_error *err)
{
	struct ipf_error no = {0};
	*start = (struct start_time){.text = text};
	if (!text)
		return 0;
	start->relative = *text == '+';
	bool good = start->relative ? parse_duration(text + 1, &start->at_ns, &no) == 0
	            : *text == '@'  ? parse_seconds(text + 1, &start->at_ns)
	                            : parse_date(text, &start->at_ns);
	if (!good)
		return ipf_error_set(
			err, IPF_USAGE,
			"--start-at: expected a time such as 2026-11-20T18:00:00Z, @1763662800 or +30s, got \"%.200s\"", text);
	if (start->at_ns - (start->relative ? 0 : clock_wall()) > FAR_NS)
		return ipf_error_set(err, IPF_USAGE, "--start-at: more than a year from now: \"%.200s\"", text);
	if (start->relative)
		start->at_ns += clock_now();
	return 0;
}

int64_t start_time_monotonic(const struct start_time *start)
{
	return start->relative ? start->at_ns : start->at_ns - clock_wall_at(0);
}

int start_time_check(const struct start_time *start, int64_t need_ns, struct ipf_error *err)
{
	char text[32];
	int64_t late = start->text ? clock_now() + need_ns - start_time_monotonic(start) : 0;
	if (late <= 0)
		return 0;
	return ipf_error_set(err, IPF_SYSTEM, "--start-at: too late by %s for %s", format_duration(late, text),
	                     start->text);
}

static int signals_of(int fd)
{
	struct signalfd_siginfo info;
	int signals = 0;
	while (read(fd, &info, sizeof info) == (ssize_t)sizeof info)
		signals += interrupt_is_new();
	return signals;
}

int start_time_wait(const struct start_time *start, int signal_fd, bool quiet, unsigned show)
{
	struct progress p;
	struct pollfd signals = {.fd = signal_fd, .events = POLLIN};
	char text[32];
	int came = 0;
	int64_t left = start_time_monotonic(start) - clock_now();
	if (show & START_TIME_TELL && !quiet)
		fprintf(stderr, "ipf-fire: ready, and starting in %s\n", format_duration(left, text));
	progress_init(&p, show & START_TIME_SHOW, quiet);
	for (; !came && left > NEAR_NS; left = start_time_monotonic(start) - clock_now()) {
		if (progress_due(&p, clock_now()))
			progress_show(&p, "starting in %s", format_duration(left / NS_PER_S * NS_PER_S, text));
		int64_t sleep = left - NEAR_NS < SLICE_NS ? left - NEAR_NS : SLICE_NS;
		if (poll(&signals, 1, (int)(sleep / NS_PER_MS) + 1) > 0)
			came = signals_of(signal_fd);
	}
	progress_end(&p);
	return came;
}
