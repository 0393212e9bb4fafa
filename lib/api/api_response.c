#include "api/api_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the response half ---- */

static void pointers_release(struct api_pointers *p)
{
	for (size_t i = 0; i < p->count; i++)
		api_pointer_free(p->list[i]);
	free(p->list);
	free(p->header);
}

/* {"header": NAME}, where a header may say it too. */
static int compile_header(struct api_place at, json_t *value, struct api_pointers *to, struct ipf_error *err)
{
	json_t *name = json_object_get(value, "header");
	const char *text = json_string_value(name);
	if (!text || !*text || strpbrk(text, ": \r\n") || to->header)
		return api_wrong(at, "header", err, "one header's name", name);
	to->header = strdup(text);
	if (!to->header)
		return ipf_error_memory(err);
	for (char *c = to->header; *c; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c | 32);
	return 0;
}

/* `may_sum`: {"sum": LIST} will do as well. */
static int compile_some(struct api_place at, bool may_sum, json_t *map, const char *key, struct api_pointers *to,
                        struct ipf_error *err)
{
	json_t *list = json_object_get(map, key), *sum = json_object_get(list, "sum"), *value;
	size_t i;
	if (!list)
		return 0;
	to->sum = sum && may_sum && json_object_size(list) == 1;
	if (to->sum)
		list = sum;
	if (!json_is_array(list) || !json_array_size(list))
		return api_wrong(at, key, err, "a list of JSON Pointers", list);
	to->list = calloc(json_array_size(list), sizeof(*to->list));
	if (!to->list)
		return ipf_error_memory(err);
	json_array_foreach(list, i, value)
	{
		struct ipf_error why = {0};
		if (json_object_get(value, "header")) {
			if (compile_header(at, value, to, err) < 0)
				return -1;
			continue;
		}
		if (api_pointer_new(&to->list[to->count], value, &why) < 0)
			return ipf_error_at(err, why.kind, at.file, 0, "%s.%s[%zu]: %s", at.inside, key, i, why.text);
		to->count++;
	}
	return 0;
}

static int compile_pointers(struct api_place at, json_t *map, const char *key, struct api_pointers *to,
                            struct ipf_error *err)
{
	return compile_some(at, false, map, key, to, err);
}

/* One word out of a list, as its index. */
static int compile_word(struct api_place at, json_t *map, const char *key, const char *const *words, const char *wanted,
                        int *to, struct ipf_error *err)
{
	json_t *value = json_object_get(map, key);
	for (int i = 0; json_is_string(value) && words[i]; i++) {
		if (!strcmp(words[i], json_string_value(value))) {
			*to = i;
			return 0;
		}
	}
	return api_wrong(at, key, err, wanted, value);
}

static int copy_text(struct api_place at, json_t *map, const char *key, char **to, struct ipf_error *err)
{
	json_t *value = json_object_get(map, key);
	if (!value)
		return 0;
	if (!json_is_string(value) || !json_string_length(value))
		return api_wrong(at, key, err, "a text", value);
	*to = strdup(json_string_value(value));
	return *to ? 0 : ipf_error_memory(err);
}

static int compile_end(struct api_place at, json_t *end, struct api_response *r, struct ipf_error *err)
{
	static const char *const known[] = {"data", "when", "eof", NULL};
	json_t *eof = json_object_get(end, "eof");
	if (!end && r->framing == FRAMING_GRPC)
		return 0;
	if (!json_is_object(end))
		return api_wrong(at, "end", err, "a map with data, when or eof", end);
	char inside[64];
	snprintf(inside, sizeof inside, "%s.end", at.inside);
	struct api_place within = {at.file, inside};
	if (api_only_members(within, end, known, err) < 0 || copy_text(within, end, "data", &r->end_data, err) < 0 ||
	    compile_pointers(within, end, "when", &r->end_when, err) < 0)
		return -1;
	if (eof && !json_is_true(eof))
		return api_wrong(within, "eof", err, "true", eof);
	r->end_at_eof = eof != NULL;
	if (!r->end_data && !r->end_when.count && !r->end_at_eof)
		return api_wrong(at, "end", err, "one of data, when and eof in it", end);
	if (r->end_at_eof && r->framing == FRAMING_GRPC)
		return api_wrong(within, "eof", err, "none: gRPC ends with a status", eof);
	if (r->end_data && r->framing != FRAMING_SSE)
		return api_wrong(within, "data", err, "framing \"sse\" with it", json_object_get(end, "data"));
	return 0;
}

static int compile_usage(struct api_place at, json_t *usage, struct api_response *r, struct ipf_error *err)
{
	static const char *const known[] = {"input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens", NULL};
	if (!usage)
		return 0;
	if (!json_is_object(usage))
		return api_wrong(at, "usage", err, "a map", usage);
	char inside[64];
	snprintf(inside, sizeof inside, "%s.usage", at.inside);
	at.inside = inside;
	return api_only_members(at, usage, known, err) < 0 ||
	               compile_some(at, true, usage, "input_tokens", &r->input_tokens, err) < 0 ||
	               compile_some(at, true, usage, "output_tokens", &r->output_tokens, err) < 0 ||
	               compile_some(at, true, usage, "reasoning_tokens", &r->reasoning_tokens, err) < 0 ||
	               compile_some(at, true, usage, "cached_tokens", &r->cached_tokens, err) < 0
	           ? -1
	           : 0;
}

/* ---- finish reasons ---- */

static int compile_finish_words(struct api_place at, json_t *map, struct api_response *r, struct ipf_error *err)
{
	static const char *const house[] = {"stop", "length", "tool_calls", "content_filter", "error", NULL};
	const char *key;
	json_t *value;
	if (!map)
		return 0;
	if (!json_is_object(map))
		return api_wrong(at, "finish_words", err, "a map", map);
	r->finish_words = calloc(json_object_size(map) + 1, sizeof *r->finish_words);
	if (!r->finish_words)
		return ipf_error_memory(err);
	char inside[64];
	snprintf(inside, sizeof inside, "%s.finish_words", at.inside);
	at.inside = inside;
	json_object_foreach(map, key, value)
	{
		int i = 0;
		if (!json_is_null(value) &&
		    compile_word(at, map, key, house, "stop, length, tool_calls, content_filter, error or null", &i, err) < 0)
			return -1;
		struct api_finish_word *word = &r->finish_words[r->finish_words_count++];
		word->server = strdup(key);
		word->house = json_is_null(value) ? NULL : strdup(house[i]);
		if (!word->server || (!word->house && !json_is_null(value)))
			return ipf_error_memory(err);
	}
	return 0;
}

/* ---- the server's own timings ---- */

static const char *const server_times[API_SERVER_TIMES] = {"load",   "queue", "prefill",   "ttft",
                                                           "decode", "tpot",  "inference", "total"};

const char *api_server_time_name(enum api_server_time which)
{
	return server_times[which];
}

static int compile_timing(struct api_place at, json_t *json, struct api_timing *t, struct ipf_error *err)
{
	static const char *const known[] = {"at", "from", "unit", NULL}, *const units[] = {"ns", "us", "ms", "s", NULL};
	static const double sizes[] = {1, 1e3, 1e6, 1e9};
	int unit = 0;
	if (!json_is_object(json))
		return api_wrong(at, "at", err, "a map with at and unit", json);
	if (api_only_members(at, json, known, err) < 0 || compile_pointers(at, json, "at", &t->at, err) < 0 ||
	    compile_pointers(at, json, "from", &t->from, err) < 0 ||
	    compile_word(at, json, "unit", units, "ns, us, ms or s", &unit, err) < 0)
		return -1;
	if (!t->at.count && !t->at.header)
		return api_wrong(at, "at", err, "a list of JSON Pointers", NULL);
	if (t->from.header)
		return api_wrong(at, "from", err, "JSON Pointers only", json_object_get(json, "from"));
	t->unit_ns = sizes[unit];
	return 0;
}

static int compile_times(struct api_place at, json_t *map, struct api_response *r, struct ipf_error *err)
{
	const char *key;
	json_t *value;
	char inside[96];
	if (map && !json_is_object(map))
		return api_wrong(at, "server", err, "a map", map);
	json_object_foreach(map, key, value)
	{
		size_t i = 0;
		while (i < API_SERVER_TIMES && strcmp(server_times[i], key) != 0)
			i++;
		snprintf(inside, sizeof inside, "%s.server.%.40s", at.inside, key);
		if (i == API_SERVER_TIMES)
			return ipf_error_at(err, IPF_INPUT, at.file, 0, "%s: unknown member", inside);
		if (compile_timing((struct api_place){at.file, inside}, value, &r->times[i], err) < 0)
			return -1;
		r->has_times = true;
	}
	return 0;
}

/* ---- the half ---- */

static const char *const framings[] = {"sse", "ndjson", "json", "json-sequence", "grpc", NULL};

const char *framing_name(enum framing_kind framing)
{
	return framings[framing];
}

static bool any_header(const struct api_response *r)
{
	bool any = r->input_tokens.header || r->output_tokens.header || r->reasoning_tokens.header ||
	           r->cached_tokens.header;
	for (size_t i = 0; i < API_SERVER_TIMES; i++)
		any |= r->times[i].at.header != NULL;
	return any;
}

/* Only counts and timings can stand in a header. */
static bool header_out_of_place(const struct api_response *r)
{
	return r->text.header || r->prefix_len.header || r->reasoning.header || r->tools.header || r->data.header ||
	       r->finish.header || r->error.header || r->end_when.header;
}

int api_response_compile(struct api_place at, json_t *json, struct api_response *r, struct ipf_error *err)
{
	static const char *const known[] = {"framing",    "text_mode",    "text",   "reasoning", "tools", "finish",
	                                    "error",      "error_event",  "usage",  "end",       "data",  "text_after",
	                                    "prefix_len", "finish_words", "server", "envelope",  NULL};
	static const char *const envelopes[] = {"aws-eventstream", NULL};
	static const char *const modes[] = {"delta", "cumulative", "cumulative-with-prompt", "prefix", NULL};
	int framing = 0, mode = 0, envelope = 0;
	if (!json_is_object(json))
		return api_wrong((struct api_place){at.file, NULL}, at.inside, err, "a map", json);
	if (api_only_members(at, json, known, err) < 0 ||
	    compile_word(at, json, "framing", framings, "\"sse\", \"ndjson\", \"json\", \"json-sequence\" or \"grpc\"",
	                 &framing, err) < 0)
		return -1;
	if (json_object_get(json, "text_mode") &&
	    compile_word(at, json, "text_mode", modes,
	                 "\"delta\", \"cumulative\", \"cumulative-with-prompt\" or \"prefix\"", &mode, err) < 0)
		return -1;
	if (json_object_get(json, "envelope") &&
	    compile_word(at, json, "envelope", envelopes, "\"aws-eventstream\"", &envelope, err) < 0)
		return -1;
	r->envelope = json_object_get(json, "envelope") != NULL;
	if (r->envelope && (enum framing_kind)framing == FRAMING_GRPC)
		return api_wrong(at, "envelope", err, "none around gRPC", json_object_get(json, "envelope"));
	r->framing = (enum framing_kind)framing;
	r->text_mode = (enum api_text_mode)mode;
	if (compile_pointers(at, json, "text", &r->text, err) < 0 ||
	    compile_pointers(at, json, "reasoning", &r->reasoning, err) < 0 ||
	    compile_pointers(at, json, "tools", &r->tools, err) < 0 ||
	    compile_pointers(at, json, "finish", &r->finish, err) < 0 ||
	    compile_pointers(at, json, "error", &r->error, err) < 0 ||
	    compile_pointers(at, json, "data", &r->data, err) < 0 ||
	    compile_pointers(at, json, "prefix_len", &r->prefix_len, err) < 0 ||
	    copy_text(at, json, "text_after", &r->text_after, err) < 0 ||
	    copy_text(at, json, "error_event", &r->error_event, err) < 0 ||
	    compile_finish_words(at, json_object_get(json, "finish_words"), r, err) < 0 ||
	    compile_times(at, json_object_get(json, "server"), r, err) < 0 ||
	    compile_usage(at, json_object_get(json, "usage"), r, err) < 0 ||
	    compile_end(at, json_object_get(json, "end"), r, err) < 0)
		return -1;
	if (!r->text.count && !r->data.count)
		return api_wrong(at, "text", err, "a list of JSON Pointers", NULL);
	if (!r->prefix_len.count != (r->text_mode != API_PREFIX))
		return api_wrong(at, "prefix_len", err, "it where text_mode is \"prefix\", and only there",
		                 json_object_get(json, "prefix_len"));
	if (header_out_of_place(r))
		return api_wrong(at, "header", err, "it only in usage and server", NULL);
	r->has_headers = any_header(r);
	if (r->error_event && r->framing != FRAMING_SSE)
		return api_wrong(at, "error_event", err, "framing \"sse\" with it", json_object_get(json, "error_event"));
	return 0;
}

void api_response_release(struct api_response *r)
{
	struct api_pointers *all[] = {&r->text,          &r->reasoning,    &r->tools,         &r->finish,
	                              &r->error,         &r->input_tokens, &r->output_tokens, &r->reasoning_tokens,
	                              &r->cached_tokens, &r->end_when,     &r->data,          &r->prefix_len};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		pointers_release(all[i]);
	for (size_t i = 0; i < API_SERVER_TIMES; i++) {
		pointers_release(&r->times[i].at);
		pointers_release(&r->times[i].from);
	}
	for (size_t i = 0; i < r->finish_words_count; i++) {
		free(r->finish_words[i].server);
		free(r->finish_words[i].house);
	}
	free(r->finish_words);
	free(r->text_after);
	free(r->error_event);
	free(r->end_data);
}
