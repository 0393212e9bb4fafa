#include "publish/publish.h"

#include "clock.h"
#include "cli/interrupt.h"
#include "publish/metrics_server.h"

#include <curl/curl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct publish {
	const struct publish_options *options;
	struct listen_address address;
	struct live_metrics *metrics;
	struct metrics_server *server; /* NULL: not asked for */
	struct push *push;             /* NULL: not asked for */
	bool begun;
};

int publish_check(const struct publish_options *options, struct ipf_error *err)
{
	struct listen_address address;
	if (options->listen && listen_address_parse(options->listen, &address, err) < 0)
		return -1;
	if (options->linger_ns && !options->listen)
		return ipf_error_set(err, IPF_USAGE, "--linger requires --listen");
	return push_check(&options->push, err);
}

bool publish_wanted(const struct publish_options *options)
{
	return options->listen || options->push.figures.targets.count || options->push.otlp;
}

int publish_open(struct publish **publish, const struct publish_options *options, struct ipf_error *err)
{
	struct publish *p = calloc(1, sizeof *p);
	*publish = p;
	if (!p || !(p->metrics = live_metrics_new()))
		return ipf_error_memory(err);
	p->options = options;
	if (options->listen && (listen_address_parse(options->listen, &p->address, err) < 0 ||
	                        metrics_server_start(&p->server, &p->address, p->metrics, err) < 0))
		return -1;
	return options->push.figures.targets.count || options->push.otlp
	           ? push_start(&p->push, &options->push, p->metrics, err)
	           : 0;
}

void publish_describe(const struct publish *p, struct buffer *line)
{
	if (!p || !p->server)
		return;
	const char *port = strrchr(p->options->listen, ':');
	bool chosen = strspn(port + 1, "0") == strlen(port + 1);
	if (chosen || !p->address.loopback)
		buffer_format(line, "metrics at http://%s/metrics%s", metrics_server_address(p->server),
		              p->address.loopback ? "" : ", for every machine that reaches this address");
}

int publish_begin_input(struct publish *p, const json_t *header, const struct publish_input *input,
                        struct ipf_error *err)
{
	if (!p)
		return 0;
	if (live_metrics_begin_input(p->metrics, header, input->schedule, input->shared) < 0)
		return ipf_error_memory(err);
	if (p->push && push_begin_spans(p->push, header, input->schedule, input->api, input->live, err) < 0)
		return -1;
	if (p->push && !p->begun) {
		const char *name = json_string_value(json_object_get(header, "name"));
		push_begin(p->push, name ? name : "");
	}
	p->begun = true;
	return 0;
}

void publish_row(struct publish *p, const struct observation *seen)
{
	if (!p)
		return;
	live_metrics_row(p->metrics, seen);
	if (p->push)
		push_span(p->push, seen);
}

void publish_client(struct publish *p, struct slice client)
{
	if (p)
		live_metrics_client(p->metrics, client);
}

bool publish_tick(struct publish *p, struct verdict *verdict, struct buffer *line)
{
	if (!p)
		return false;
	live_metrics_judge(p->metrics, verdict, clock_now());
	return p->push && line && push_take_notice(p->push, line);
}

void publish_finish(struct publish *p, const struct verdict_finding *verdict)
{
	if (!p)
		return;
	live_metrics_finish(p->metrics, verdict);
	if (p->push)
		push_finish(p->push, PUBLISH_FINISH_NS);
}

json_t *publish_json(const struct publish *p)
{
	json_t *list = p ? json_array() : NULL;
	if (!list)
		return NULL;
	if (p->server)
		json_array_append_new(list, json_pack("{s:s, s:I}", "listen", metrics_server_address(p->server), "scrapes",
		                                      (json_int_t)metrics_server_scrapes(p->server)));
	for (size_t i = 0; p->push && i < push_count(p->push); i++)
		json_array_append_new(list, push_json(p->push, i));
	return list;
}

void publish_linger(struct publish *p)
{
	const int step_ms = 20;
	if (!p || !p->server || !p->options->linger_ns)
		return;
	int64_t since_ns = clock_now(), scrapes = metrics_server_final_scrapes(p->server);
	interrupt_watch(0);
	/* a scrape coming between the run's end and now has the final figures as well */
	while (!scrapes && !interrupted() && clock_now() - since_ns < p->options->linger_ns) {
		poll(NULL, 0, step_ms);
		scrapes = metrics_server_final_scrapes(p->server);
	}
}

void publish_close(struct publish *p)
{
	if (!p)
		return;
	push_free(p->push);
	metrics_server_stop(p->server);
	live_metrics_free(p->metrics);
	free(p);
}

const char *publish_libraries(void)
{
	static char names[512];
	snprintf(names, sizeof names, "%s %s snappy/%s", curl_version(), metrics_server_library(), SNAPPY_VERSION);
	return names;
}
