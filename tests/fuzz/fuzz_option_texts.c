/* Texts of options, addresses and names that lib and ipf-collect read, all of them of the same text: each is a value in
 * its range, or is refused with a reason; redacting or escaping twice equals once; output for people has no
 * controls. */
#include "fuzz_input.h"

#include "absent.h"
#include "cli/times.h"
#include "header_field.h"
#include "hub/hub_repository.h"
#include "live/until_stable.h"
#include "loopback.h"
#include "objective/objective.h"
#include "push/push_target.h"
#include "redact.h"
#include "retry_after.h"
#include "safe_text.h"
#include "scrape/metrics_url.h"

#include <math.h>

static void read_objectives(const char *text)
{
	struct objective list[OBJECTIVES_MOST], again[OBJECTIVES_MOST];
	struct ipf_error err = {0};
	int count = 0, other = 0;
	if (objectives_parse(text, &objectives_any, list, &count, &err) < 0)
		must_explain(&err);
	must(count >= 0 && count <= OBJECTIVES_MOST);
	for (int i = 0; i < count; i++) {
		must(list[i].limit_ns >= 0 &&
		     (isnan(list[i].percentile) || (list[i].percentile > 0 && list[i].percentile < 100)));
		other = 0;
		must(objectives_parse(list[i].text, &objectives_any, again, &other, &err) == 0 && other == 1 &&
		     again[0].limit_ns == list[i].limit_ns && again[0].metric == list[i].metric);
	}
}

static void read_times(struct slice text)
{
	struct ipf_error err = {0};
	int64_t ns;
	if (time_parse(text, &ns, &err) < 0)
		must_explain(&err);
	(void)time_from_number(text, 1000, &ns);
}

static void redact_twice(const char *text, void (*redact)(const char *, struct buffer *))
{
	struct buffer once = {0}, twice = {0};
	redact(text, &once);
	buffer_byte(&once, '\0');
	redact(once.data, &twice);
	buffer_byte(&twice, '\0');
	must(slice_equal(buffer_all(&once), buffer_all(&twice)));
	buffer_release(&once);
	buffer_release(&twice);
}

static void redact_a_message(const char *text)
{
	char once[400], twice[400];
	snprintf(once, sizeof once, "%s", text);
	redact_message(once, sizeof once);
	memcpy(twice, once, sizeof once);
	redact_message(twice, sizeof twice);
	must(memchr(once, 0, sizeof once));
	must(strlen(once) == sizeof once - 1 || strcmp(once, twice) == 0); /* else it was cut */
}

static void escape_twice(struct slice text)
{
	struct buffer once = {0}, twice = {0};
	char few[16];
	safe_text_append(&once, text);
	must(safe_text_is_safe(buffer_all(&once)) && (!safe_text_is_safe(text) || slice_equal(text, buffer_all(&once))));
	safe_text_append(&twice, buffer_all(&once));
	must(slice_equal(buffer_all(&once), buffer_all(&twice)));
	must(safe_text(few, sizeof few, text) == strlen(few) && safe_text_is_safe(slice_of(few)));
	buffer_release(&once);
	buffer_release(&twice);
}

static void read_repository(const char *text)
{
	struct hub_repository r;
	struct ipf_error err = {0};
	if (hub_repository_parse(&r, text, &err) < 0)
		must_explain(&err);
	else
		must(r.name[0] && (!r.path[0] || hub_is_path(r.path)));
	(void)hub_is_name(text);
	must(!hub_is_file_name(text) || hub_is_path(text));
}

static void read_push(const char *text)
{
	static const struct metric_label labels[] = {{"job", "a/b c"}};
	struct push_target target;
	struct ipf_error err = {0};
	struct buffer url = {0};
	if (push_target_parse(text, &target, &err) < 0)
		must_explain(&err);
	else
		push_target_url(&target, labels, 1, &url);
	ipf_error_clear(&err);
	if (push_target_parse_otlp(text, &target, &err) < 0)
		must_explain(&err);
	else
		push_target_url(&target, labels, 1, &url);
	int64_t port = IPF_ABSENT;
	char *host = push_url_host(text, &port);
	must(!host || port == IPF_ABSENT || (port >= 0 && port <= 65535));
	free(host);
	buffer_release(&url);
}

static void read_scraped(const char *text)
{
	struct metrics_url url;
	if (metrics_url_parse(&url, text))
		must(url.whole[0] && url.scheme[0] && url.host[0] && url.port[0]);
	metrics_url_release(&url);
}

static void read_rule(const char *text)
{
	struct until_stable_rule rule;
	struct ipf_error err = {0};
	if (until_stable_parse(text, &rule, &err) < 0)
		must_explain(&err);
	else
		must(rule.tolerance > 0 && rule.tolerance <= 1 && rule.windows >= 2 &&
		     rule.windows <= UNTIL_STABLE_WINDOWS_MOST && rule.window_ns > 0);
}

static void read_retry_after(const char *text)
{
	static const char *const names[] = {"x-ratelimit-reset-requests", "Retry-After", "retry-after-ms"};
	struct retry_after asked = {0};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		retry_after_note(&asked, slice_of(names[i]), slice_of(text));
		int64_t ns = retry_after_ns(&asked, 1700000000);
		must(ns == IPF_ABSENT || (ns >= 0 && ns <= RETRY_AFTER_MOST_NS));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice rest = {(const char *)data, size};
	if (size > 4096)
		return 0;
	escape_twice(rest);
	char *text = take_text(&rest);
	read_objectives(text);
	read_times(slice_of(text));
	read_repository(text);
	read_push(text);
	read_scraped(text);
	read_rule(text);
	redact_twice(text, redact_header);
	redact_twice(text, redact_param);
	redact_twice(text, redact_value);
	redact_twice(text, redact_url);
	redact_a_message(text);
	read_retry_after(text);
	(void)header_name_is_valid(text, strlen(text));
	(void)header_value_is_valid(text);
	(void)host_is_loopback(text);
	(void)url_is_loopback(text);
	free(text);
	return 0;
}
