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

#define SLICE_NS     (200 * NS_PER_MS)
#define NEAR_NS      NS_PER_S /* in the last second the clocks are no longer compared */
#define FAR_NS       (366 * 86400 * NS_PER_S)
#define GRID_MOST_NS (86400 * NS_PER_S)

#define DIGITS "0123456789"

/* RFC 3339; time_parse also accepts times without a zone, or with a space. */
static bool parse_date(const char *text, int64_t *ns)
{
	struct ipf_error ignored = {0};
	size_t len = strlen(text);
	bool zone = len >= 20 &&
	            (text[len - 1] == 'Z' || (len >= 25 && text[len - 3] == ':' && strchr("+-", text[len - 6])));
	return zone && text[10] == 'T' && text[17] < '6' && time_parse(slice_of(text), ns, &ignored) == 0;
}

static bool parse_seconds(const char *text, int64_t *ns)
{
	size_t whole = strspn(text, DIGITS), fraction = text[whole] == '.' ? strspn(text + whole + 1, DIGITS) : 0;
	const char *end = text + whole + (fraction ? fraction + 1 : 0);
	return whole && fraction <= 9 && !*end && time_from_number(slice_of(text), NS_PER_S, ns) == 0;
}

/* The next multiple of a time between a second and a day, in UTC, at least two seconds away. */
static bool parse_grid(const char *text, int64_t *ns)
{
	struct ipf_error ignored = {0};
	int64_t every_ns;
	if (parse_duration(text, &every_ns, &ignored) < 0 || every_ns < NS_PER_S || every_ns > GRID_MOST_NS)
		return false;
	*ns = ((clock_wall() + 2 * NS_PER_S) / every_ns + 1) * every_ns;
	return true;
}

int start_time_parse(const char *text, struct start_time *start, struct ipf_error *err)
{
	struct ipf_error ignored = {0};
	*start = (struct start_time){.text = text};
	start->relative = *text == '+';
	bool good = *text == '/'      ? parse_grid(text + 1, &start->at_ns)
	            : start->relative ? parse_duration(text + 1, &start->at_ns, &ignored) == 0
	            : *text == '@'    ? parse_seconds(text + 1, &start->at_ns)
	                              : parse_date(text, &start->at_ns);
	if (!good)
		return ipf_error_set(err, IPF_USAGE,
		                     "expected a time such as 2026-11-20T18:00:00Z, @1763662800, /10s or +30s, got \"%.200s\"",
		                     text);
	if (start->at_ns - (start->relative ? 0 : clock_wall()) > FAR_NS)
		return ipf_error_set(err, IPF_USAGE, "maximum is one year from now, got \"%.200s\"", text);
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
	return ipf_error_set(err, IPF_SYSTEM, "--start-at: missed %s by %s", start->text, format_duration(late, text));
}

static int count_signals(int fd)
{
	struct signalfd_siginfo info;
	int signals = 0;
	while (read(fd, &info, sizeof info) == (ssize_t)sizeof info)
		signals += interrupt_is_new();
	return signals;
}

int start_time_wait(const struct start_time *start, int signal_fd, struct start_time_display display)
{
	struct progress p;
	struct pollfd signal = {.fd = signal_fd, .events = POLLIN};
	char text[32];
	int signals = 0;
	int64_t left = start_time_monotonic(start) - clock_now();
	if (display.verbose && !display.quiet)
		fprintf(stderr, "ipf-fire: ready, starting in %s\n", format_duration(left, text));
	progress_init(&p, display.progress, display.quiet || display.left);
	for (; !signals && left > NEAR_NS; left = start_time_monotonic(start) - clock_now()) {
		if (progress_due(&p, clock_now()))
			progress_show(&p, "starting in %s", format_duration(left / NS_PER_S * NS_PER_S, text));
		int64_t sleep = left - NEAR_NS < SLICE_NS ? left - NEAR_NS : SLICE_NS;
		if (poll(&signal, 1, (int)(sleep / NS_PER_MS) + 1) > 0)
			signals = count_signals(signal_fd);
	}
	progress_end(&p);
	return signals;
}
