#include "endpoint/connection_policy.h"

#include "cli/units.h"

#include <string.h>

bool connection_policy_parse(const char *text, struct connection_policy *c)
{
	static const char *const names[] = {[CONNECTION_POLICY_REUSE] = "reuse",
	                                    [CONNECTION_POLICY_FRESH] = "fresh",
	                                    [CONNECTION_POLICY_SESSION] = "session"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i] && !strcmp(names[i], text)) {
			c->kind = (enum connection_policy_kind)i;
			return true;
		}
	c->kind = CONNECTION_POLICY_POOL;
	struct ipf_error ignored = {0};
	return parse_count(text, &c->pool, &ignored) == 0 && c->pool > 0;
}

const char *const http_version_names[] = {[HTTP_1_1] = "1.1", [HTTP_2] = "2", [HTTP_2_PRIOR] = "2-prior", NULL};

int64_t connection_policy_streams(const struct connection_policy *c)
{
	return c->http == HTTP_1_1 || c->kind == CONNECTION_POLICY_FRESH ? 1 : c->streams;
}

int64_t connection_policy_least(const struct connection_policy *c, size_t targets, int64_t requests)
{
	int64_t streams = connection_policy_streams(c), least = requests / streams + (requests % streams > 0);
	int64_t all = (int64_t)targets, pool = c->kind == CONNECTION_POLICY_POOL ? c->pool : INT64_MAX;
	return pool < least / all ? pool * all : least;
}
