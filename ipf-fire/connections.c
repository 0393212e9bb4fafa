#include "connections.h"

#include "units.h"

#include <string.h>

bool connections_parse(const char *text, struct connections *c)
{
	static const char *const names[] = {[CONNECTIONS_REUSE] = "reuse", [CONNECTIONS_FRESH] = "fresh", [CONNECTIONS_SESSION] = "session"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i] && !strcmp(names[i], text)) {
			c->kind = (enum connections_kind)i;
			return true;
		}
	c->kind = CONNECTIONS_POOL;
	struct ipf_error ignored = {0};
	return parse_count(text, &c->pool, &ignored) == 0 && c->pool > 0;
}

bool http_parse(const char *text, enum http_kind *http)
{
	static const char *const names[] = {[HTTP_1_1] = "1.1", [HTTP_2] = "2", [HTTP_2_PRIOR] = "2-prior"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i], text)) {
			*http = (enum http_kind)i;
			return true;
		}
	return false;
}

enum http_kind http_of(const char *text, bool grpc)
{
	enum http_kind http = HTTP_1_1;
	http_parse(text, &http);
	return grpc ? HTTP_2 : http;
}

int64_t connections_streams(const struct connections *c)
{
	return c->http == HTTP_1_1 || c->kind == CONNECTIONS_FRESH ? 1 : c->streams;
}
