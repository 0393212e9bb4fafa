#include "publish/otlp_run.h"

#include "absent.h"
#include "protobuf/protobuf_wire.h"
#include "publish/otlp_attributes.h"
#include "push/push_target.h"
#include "stream/digest.h"
#include "version.h"

#include <stdlib.h>
#include <string.h>

/* opentelemetry.proto.collector.trace.v1, trace.v1, resource.v1 and common.v1 */
enum { REQUEST_RESOURCE_SPANS = 1 };
enum { RESOURCE_SPANS_RESOURCE = 1, RESOURCE_SPANS_SCOPE_SPANS = 2 };
enum { SCOPE_SPANS_SCOPE = 1 };
enum { RESOURCE_ATTRIBUTES = 1 };
enum { SCOPE_NAME = 1, SCOPE_VERSION = 2 };

/* ---- the API ---- */

/* The conventions' names for an API; for any other one, our own name and its kind by the requests. */
static const struct {
	const char *api, *provider, *operation; /* NULL: as the requests show */
} known_apis[] = {
	{"anthropic-messages", "anthropic", NULL},    {"bedrock", "aws.bedrock", NULL},
	{"gemini", "gcp.gemini", "generate_content"}, {"openai-chat", "openai", NULL},
	{"openai-completions", "openai", NULL},       {"openai-embeddings", "openai", NULL},
	{"openai-responses", "openai", NULL},         {"vertex", "gcp.vertex_ai", "generate_content"},
	{"vertex-openai", "gcp.vertex_ai", NULL},
};

/* Whether the template of the request has a place for messages. */
static bool has_messages(const json_t *template)
{
	const char *text = json_string_value(template), *key;
	json_t *value;
	size_t i;
	if (text)
		return !strcmp(text, "$messages") || !strcmp(text, "$turns");
	json_array_foreach(template, i, value) if (has_messages(value)) return true;
	json_object_foreach((json_t *)template, key, value)
	{
		const char *each = strcmp(key, "$each") ? NULL : json_string_value(value);
		if (has_messages(value) || (each && (!strcmp(each, "messages") || !strcmp(each, "turns"))))
			return true;
	}
	return false;
}

static const char *operation_of(const struct api *api)
{
	const char *halves[] = {"response", "response_whole"};
	for (size_t i = 0; i < 2; i++)
		if (json_object_get(json_object_get(api_json(api), halves[i]), "data"))
			return "embeddings";
	return has_messages(api_request(api)) ? "chat" : "text_completion";
}

static void name_api(struct otlp_run *r, const struct api *api)
{
	r->provider = api_name(api);
	for (size_t i = 0; i < sizeof known_apis / sizeof *known_apis; i++)
		if (!strcmp(api_name(api), known_apis[i].api)) {
			r->provider = known_apis[i].provider;
			r->operation = known_apis[i].operation;
		}
	if (!r->operation)
		r->operation = operation_of(api);
}

/* ---- where requests went ---- */

static int add_targets(struct otlp_run *r, const json_t *header)
{
	const json_t *list = json_object_get(header, "targets");
	const char *unix_socket = json_string_value(json_object_get(header, "unix_socket")),
			   *only = json_string_value(json_object_get(header, "target"));
	size_t count = json_array_size(list) && !unix_socket ? json_array_size(list) : 1;
	if (!(r->targets = calloc(count, sizeof *r->targets)))
		return -1;
	if (unix_socket) {
		r->targets_count = 1;
		r->targets[0] = (struct otlp_target){strdup(unix_socket), IPF_ABSENT};
		return r->targets[0].address ? 0 : -1;
	}
	for (size_t i = 0; i < count; i++) {
		const char *url = list ? json_string_value(json_array_get(list, i)) : only;
		r->targets[r->targets_count++].address = push_url_host(url ? url : "", &r->targets[i].port);
	}
	return 0;
}

/* ---- the run ---- */

/* The id with which ipf-fire sent ids itself, or one of the members by which runs differ: the same records have the
 * same id whenever they are read. */
static int choose_id(struct otlp_run *r, const json_t *header)
{
	const char *own = json_string_value(json_object_get(header, "run_id"));
	const json_t *shard = json_object_get(header, "shard");
	const json_t *parts[] = {json_object_get(header, "t0_unix_ns"),
	                         json_object_get(json_object_get(header, "host"), "name"), json_object_get(header, "name"),
	                         json_object_get(header, "target"),
	                         json_is_object(shard) ? json_object_get(shard, "index") : shard};
	char hex[65];
	if (own && strlen(own) == sizeof r->id - 1 && strspn(own, "0123456789abcdef") == strlen(own)) {
		strcpy(r->id, own);
		return 0;
	}
	struct digest *digest = digest_new();
	if (!digest)
		return -1;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		char number[24];
		const char *text = json_string_value(parts[i]);
		snprintf(number, sizeof number, "%lld", (long long)json_integer_value(parts[i]));
		text = text ? text : number;
		digest_update(digest, text, strlen(text) + 1);
	}
	digest_hex(digest, hex);
	digest_free(digest);
	snprintf(r->id, sizeof r->id, "%.32s", hex);
	return 0;
}

static struct slice text_of(const json_t *json)
{
	return (struct slice){json_string_value(json), json_string_length(json)};
}

static void describe(struct otlp_run *r, const json_t *header)
{
	struct buffer *out = &r->about;
	otlp_put_text(out, RESOURCE_ATTRIBUTES, "service.name", slice_of("ipf"));
	otlp_put_text(out, RESOURCE_ATTRIBUTES, "service.version", slice_of(IPF_VERSION));
	otlp_put_text(out, RESOURCE_ATTRIBUTES, "service.instance.id", slice_of(r->id));
	otlp_put_text(out, RESOURCE_ATTRIBUTES, "host.name",
	              text_of(json_object_get(json_object_get(header, "host"), "name")));
	otlp_put_text(out, RESOURCE_ATTRIBUTES, "ipf.run", text_of(json_object_get(header, "name")));
}

int otlp_run_new(struct otlp_run **run, const json_t *header, const struct schedule *schedule, const struct api *api,
                 struct ipf_error *err)
{
	const json_t *t0 = json_object_get(header, "t0_unix_ns");
	struct otlp_run *r = calloc(1, sizeof *r);
	*run = r;
	if (!r)
		return ipf_error_memory(err);
	if (!json_is_integer(t0) || json_integer_value(t0) < 0)
		return ipf_error_set(err, IPF_INPUT, "t0_unix_ns: missing, but --otlp needs it");
	r->t0_unix_ns = json_integer_value(t0);
	r->schedule = schedule;
	name_api(r, api);
	if (add_targets(r, header) < 0 || choose_id(r, header) < 0)
		return ipf_error_memory(err);
	describe(r, header);
	return r->about.failed ? ipf_error_memory(err) : 0;
}

void otlp_run_free(struct otlp_run *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->targets_count; i++)
		free(r->targets[i].address);
	free(r->targets);
	buffer_release(&r->about);
	free(r);
}

void otlp_run_begin(const struct otlp_run *r, struct otlp_body *body)
{
	struct buffer *out = &body->bytes;
	buffer_clear(out);
	body->open[0] = wire_open(out, REQUEST_RESOURCE_SPANS);
	wire_string(out, RESOURCE_SPANS_RESOURCE, buffer_all(&r->about));
	body->open[1] = wire_open(out, RESOURCE_SPANS_SCOPE_SPANS);
	size_t scope = wire_open(out, SCOPE_SPANS_SCOPE);
	wire_string(out, SCOPE_NAME, slice_of("ipf-collect"));
	wire_string(out, SCOPE_VERSION, slice_of(IPF_VERSION));
	wire_close(out, scope);
}

void otlp_run_end(struct otlp_body *body)
{
	wire_close(&body->bytes, body->open[1]);
	wire_close(&body->bytes, body->open[0]);
}
