#include "rate_limit.h"

#include "cli/key_values.h"
#include "cli/units.h"
#include "clock.h"
#include "http.h"

#include <stddef.h>
#include <string.h>

static const char *const forms[] = {"seconds", "date", "ms", "openai", "nothing", NULL};

int rate_limit_parse(const char *text, void *variable, struct ipf_error *err)
{
	static const struct key_value keys[] = {
		{"burst", KEY_VALUE_RATE, offsetof(struct rate_limit, burst), NULL},
		{"say", KEY_VALUE_CHOICE, offsetof(struct rate_limit, form), forms},
	};
	struct rate_limit *limit = variable;
	char rate[32] = "";
	struct ipf_error why = {0};
	size_t len = strcspn(text, ",");
	memcpy(rate, text, len < sizeof rate ? len : 0);
	*limit = (struct rate_limit){.burst = 1};
	if (parse_rate(rate, &limit->rate, &why) < 0 || !(limit->rate > 0))
		return ipf_error_set(err, IPF_USAGE, "expected RATE[,burst=N][,say=FORM], got \"%s\"", text);
	if (key_values_parse(text + len + (text[len] == ','), keys, sizeof keys / sizeof *keys, limit, err) < 0)
		return -1;
	return limit->burst >= 1 ? 0 : ipf_error_set(err, IPF_USAGE, "burst: expected 1 or more");
}

int64_t rate_limit_wait(struct rate_limit *l, int64_t now_ns)
{
	if (now_ns > l->last_ns) {
		double back = l->last_ns ? l->rate * (double)(now_ns - l->last_ns) / (double)NS_PER_S : l->burst;
		l->missing = back < l->missing ? l->missing - back : 0;
		l->last_ns = now_ns;
	}
	if (l->missing + 1 <= l->burst) {
		l->missing += 1;
		return 0;
	}
	return (int64_t)((l->missing + 1 - l->burst) / l->rate * (double)NS_PER_S) + 1;
}

int64_t rate_limit_say(const struct rate_limit *l, int64_t wait_ns, int64_t offset_ns, struct buffer *out)
{
	int64_t seconds = (wait_ns + NS_PER_S - 1) / NS_PER_S, ms = (wait_ns + NS_PER_MS - 1) / NS_PER_MS;
	switch ((enum rate_limit_form)l->form) {
	case RATE_LIMIT_SECONDS:
		buffer_format(out, "Retry-After: %lld\r\n", (long long)seconds);
		return seconds * NS_PER_S;
	case RATE_LIMIT_DATE:
		http_write_date(out, "Retry-After", offset_ns + (seconds + 1) * NS_PER_S);
		return (seconds + 1) * NS_PER_S;
	case RATE_LIMIT_MS:
		buffer_format(out, "Retry-After: %lld\r\nretry-after-ms: %lld\r\n", (long long)seconds, (long long)ms);
		return ms * NS_PER_MS;
	case RATE_LIMIT_OPENAI:
		buffer_format(out, "x-ratelimit-reset-requests: %lldm%lldms\r\n", (long long)(ms / 60000),
		              (long long)(ms % 60000));
		return ms * NS_PER_MS;
	case RATE_LIMIT_NOTHING:
		break;
	}
	return 0;
}
