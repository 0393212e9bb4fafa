#include "run/fire_header.h"

#include "endpoint/network_path.h"
#include "run/system_clock.h"

#include <stdlib.h>
#include <sys/resource.h>

static json_t *limits_json(void)
{
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur == RLIM_INFINITY)
		return json_object();
	return json_pack("{s:I}", "files", (json_int_t)files.rlim_cur);
}

static int set_endpoint(json_t *header, const struct fire_header *n)
{
	const char **names = calloc(n->endpoint->count, sizeof *names);
	for (size_t i = 0; names && i < n->endpoint->count; i++)
		names[i] = n->endpoint->targets[i].shown;
	int bad = names ? records_header_targets(header, names, n->endpoint->count, n->options->run.balance) : -1;
	free(names);
	return bad;
}

/* The network path, if it is not the default. */
static int set_network_path(json_t *header, const struct network_path *path)
{
	int bad = 0;
	if (path->o.unix_socket)
		bad |= json_object_set_new(header, "unix_socket", json_string(path->o.unix_socket));
	if (path->o.proxy)
		bad |= json_object_set_new(header, "proxy", json_string(path->proxy_shown));
	if (path->o.bind)
		bad |= json_object_set_new(header, "bind", json_string(path->o.bind));
	if (path->o.dns_each)
		bad |= json_object_set_new(header, "dns", json_string("each"));
	return bad;
}

/* The requests, and their connections. */
static int set_sending(json_t *header, const struct fire_header *n)
{
	const struct fire_options *o = n->options;
	int bad = 0;
	if (*n->run_id)
		bad |= json_object_set_new(header, "run_id", json_string(n->run_id));
	if (json_object_size(n->params))
		bad |= json_object_set(header, "params", n->params);
	bad |= json_object_set_new(header, "exact_output", json_boolean(o->exact_output));
	if (o->answers == ANSWERS_RECORDED)
		bad |= json_object_set_new(header, "answers", json_string("recorded"));
	bad |= json_object_set_new(header, "connections", json_string(o->connections.text));
	if (o->connections.policy.open_ahead)
		bad |= json_object_set_new(header, "open_ahead", json_true());
	if (o->connect_timeout_ns)
		bad |= json_object_set_new(header, "connect_timeout_ns", json_integer(o->connect_timeout_ns));
	bad |= json_object_set_new(header, "limits", limits_json());
	return bad | json_object_set_new(header, "http", json_string(http_version_names[o->connections.policy.http]));
}

int fire_header_add(json_t *header, const struct fire_header *n)
{
	int bad = set_endpoint(header, n) | set_network_path(header, n->path) | set_sending(header, n);
	bad |= cache_state_header(n->cache, header);
	if (n->options->retry.most)
		bad |= json_object_set_new(header, "retry", retry_rule_json(&n->options->retry));
	if (n->continuation->on)
		bad |= json_object_set_new(header, "continues", continuation_json(n->continuation, n->wall_ns));
	return bad ? -1 : 0;
}

static json_t *history_json(const struct history *history)
{
	struct history_counts c = history_counts(history);
	const struct live_answer_counts *calls = &c.calls;
	json_t *all = json_pack("{s:I, s:I, s:I, s:I}", "live", (json_int_t)c.live, "recorded", (json_int_t)c.recorded,
	                        "left_out", (json_int_t)c.left_out, "server", (json_int_t)c.server);
	if (calls->calls || calls->calls_left_out || calls->results_left_out)
		json_object_set_new(all, "tools",
		                    json_pack("{s:I, s:I, s:I}", "calls", (json_int_t)calls->calls, "calls_left_out",
		                              (json_int_t)calls->calls_left_out, "results_left_out",
		                              (json_int_t)calls->results_left_out));
	return all;
}

static void add_tokens(json_t *end, struct session_tokens *tokens)
{
	struct session_tokens_counts c = session_tokens_counts(tokens);
	json_object_set_new(end, "session_tokens",
	                    json_pack("{s:I, s:I, s:I}", "sessions", (json_int_t)c.sessions, "given", (json_int_t)c.given,
	                              "returned", (json_int_t)c.returned));
}

void fire_trailer_add(json_t *end, json_t *client, const struct cache_state *cache, const struct history *history,
                      struct session_tokens *tokens)
{
	json_t *system = client ? system_clock_json() : NULL;
	if (system)
		json_object_set_new(client, "system_clock", system);
	if (client)
		json_object_set_new(end, "client", client);
	cache_state_trailer(cache, end);
	if (history)
		json_object_set_new(end, "history", history_json(history));
	if (tokens)
		add_tokens(end, tokens);
}
