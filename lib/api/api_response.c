#include "api/api_response.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* {"header": NAME} among the pointers: the response header that may have the value. */
static int compile_header(struct descriptor_place at, json_t *value, struct api_pointers *to, struct ipf_error *err)
{
	json_t *name = json_object_get(value, "header");
	const char *text = json_string_value(name);
	if (!text || !*text || strpbrk(text, ": \r\n") || to->header)
		return descriptor_wrong(at, "header", err, "the name of one header", name);
	to->header = strdup(text);
	if (!to->header)
		return ipf_error_memory(err);
	for (char *c = to->header; *c; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c | 32);
	return 0;
}

/* Which extras a list of pointers may have: a header, a sum. */
enum list_kind { POINTERS, COUNTS };

static int compile_pointer_list(struct descriptor_place at, enum list_kind kind, json_t *map, const char *key,
                                struct api_pointers *to, struct ipf_error *err);

/* {"sum": LIST}: the values found are added. */
static int compile_sum(struct descriptor_place at, json_t *value, const char *key, struct api_pointers *to,
                       struct ipf_error *err)
{
	char inside[96];
	if (json_object_size(value) != 1 || to->sum)
		return descriptor_wrong(at, key, err, "one sum, without other members", value);
	to->sum = calloc(1, sizeof *to->sum);
	if (!to->sum)
		return ipf_error_memory(err);
	snprintf(inside, sizeof inside, "%s.%.40s", at.inside, key);
	at.inside = inside;
	if (compile_pointer_list(at, POINTERS, value, "sum", to->sum, err) < 0)
		return -1;
	return to->sum->header ? descriptor_error(at, "sum", err, "a header is not allowed in it") : 0;
}

static int compile_element(struct descriptor_place at, enum list_kind kind, json_t *value, const char *key,
                           struct api_pointers *to, struct ipf_error *err)
{
	if (json_object_get(value, "header"))
		return compile_header(at, value, to, err);
	if (kind == COUNTS && json_object_get(value, "sum"))
		return compile_sum(at, value, key, to, err);
	if (api_pointer_new(&to->list[to->count], value, err) < 0)
		return -1;
	to->count++;
	return 0;
}

static int compile_pointer_list(struct descriptor_place at, enum list_kind kind, json_t *map, const char *key,
                                struct api_pointers *to, struct ipf_error *err)
{
	json_t *list = json_object_get(map, key), *value;
	size_t i;
	if (!list)
		return 0;
	if (kind == COUNTS && json_object_get(list, "sum"))
		return compile_sum(at, list, key, to, err);
	if (!json_is_array(list) || !json_array_size(list))
		return descriptor_wrong(at, key, err, "an array of JSON Pointers", list);
	to->list = calloc(json_array_size(list), sizeof(*to->list));
	if (!to->list)
		return ipf_error_memory(err);
	json_array_foreach(list, i, value)
	{
		struct ipf_error why = {0};
		if (compile_element(at, kind, value, key, to, &why) == 0)
			continue;
		if (*why.file || why.kind != IPF_INPUT) {
			*err = why;
			return -1;
		}
		return ipf_error_at(err, why.kind, at.file, 0, "%s.%s[%zu]: %s", at.inside, key, i, why.text);
	}
	return 0;
}

static int compile_pointers(struct descriptor_place at, json_t *map, const char *key, struct api_pointers *to,
                            struct ipf_error *err)
{
	return compile_pointer_list(at, POINTERS, map, key, to, err);
}

struct word_choice {
	const char *const *names; /* NULL at the end */
	const char *expected;     /* the names as an error message lists them */
};

/* The index of the word into *to. */
static int compile_word(struct descriptor_place at, json_t *map, const char *key, const struct word_choice *words,
                        int *to, struct ipf_error *err)
{
	json_t *value = json_object_get(map, key);
	for (int i = 0; json_is_string(value) && words->names[i]; i++) {
		if (!strcmp(words->names[i], json_string_value(value))) {
			*to = i;
			return 0;
		}
	}
	return descriptor_wrong(at, key, err, words->expected, value);
}

static int compile_optional_word(struct descriptor_place at, json_t *map, const char *key,
                                 const struct word_choice *words, int *to, struct ipf_error *err)
{
	return json_object_get(map, key) ? compile_word(at, map, key, words, to, err) : 0;
}

static int copy_string(struct descriptor_place at, json_t *map, const char *key, char **to, struct ipf_error *err)
{
	json_t *value = json_object_get(map, key);
	if (!value)
		return 0;
	if (!json_is_string(value) || !json_string_length(value))
		return descriptor_wrong(at, key, err, "a string", value);
	*to = strdup(json_string_value(value));
	return *to ? 0 : ipf_error_memory(err);
}

static int compile_end(struct descriptor_place at, json_t *end, struct api_response *r, struct ipf_error *err)
{
	static const char *const known[] = {"data", "when", "final", "eof", "usage", NULL};
	json_t *eof = json_object_get(end, "eof"), *final = json_object_get(end, "final"),
		   *usage = json_object_get(end, "usage");
	if (!end && r->framing == FRAMING_GRPC)
		return 0;
	if (!json_is_object(end))
		return descriptor_wrong(at, "end", err, "an object with data, when or eof", end);
	char inside[64];
	snprintf(inside, sizeof inside, "%s.end", at.inside);
	struct descriptor_place within = descriptor_inside(at, inside);
	if (descriptor_only_members(within, end, known, err) < 0 ||
	    copy_string(within, end, "data", &r->end_data, err) < 0 ||
	    compile_pointers(within, end, "when", &r->end_when, err) < 0)
		return -1;
	if (eof && !json_is_true(eof))
		return descriptor_wrong(within, "eof", err, "true", eof);
	if (final && !json_is_true(final))
		return descriptor_wrong(within, "final", err, "true", final);
	if (usage && !json_is_true(usage))
		return descriptor_wrong(within, "usage", err, "true", usage);
	r->end_at_eof = eof != NULL;
	r->end_at_usage = usage != NULL;
	r->end_final = final != NULL;
	if (!r->end_data && !r->end_when.count && !r->end_at_eof)
		return descriptor_wrong(at, "end", err, "at least one of data, when and eof in it", end);
	if (r->end_at_eof && r->framing == FRAMING_GRPC)
		return descriptor_error(within, "eof", err, "not allowed with framing \"grpc\", which ends with a status");
	if (r->end_data && r->framing != FRAMING_SSE)
		return descriptor_error(within, "data", err, "requires framing \"sse\"");
	if ((r->end_final || r->end_at_usage) && !r->end_data && !r->end_when.count)
		return descriptor_error(within, r->end_final ? "final" : "usage", err, "requires data or when");
	return 0;
}

const char *const api_detail_names[API_DETAILS] = {"cached_tokens_device", "cached_tokens_host",  "cached_tokens_disk",
                                                   "cached_tokens_remote", "cache_write_tokens",  "image_tokens",
                                                   "audio_tokens",         "output_audio_tokens", "spec_drafts",
                                                   "spec_draft_tokens",    "spec_accepted_tokens"};

/* A count of the usage or a detail: its name in the descriptor and where it is compiled to; false at the end. */
static bool usage_count(struct api_response *r, size_t i, const char **name, struct api_pointers **to)
{
	static const char *const names[] = {"input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens",
	                                    "total_tokens"};
	struct api_pointers *const usage[] = {&r->input_tokens, &r->output_tokens, &r->reasoning_tokens, &r->cached_tokens,
	                                      &r->total_tokens};
	const size_t own = sizeof usage / sizeof *usage;
	if (i >= own + API_DETAILS)
		return false;
	*name = i < own ? names[i] : api_detail_names[i - own];
	*to = i < own ? usage[i] : &r->details[i - own];
	return true;
}

static int compile_usage(struct descriptor_place at, json_t *usage, struct api_response *r, struct ipf_error *err)
{
	const char *known[API_DETAILS + 6] = {NULL}, *name;
	struct api_pointers *to;
	if (!usage)
		return 0;
	if (!json_is_object(usage))
		return descriptor_wrong(at, "usage", err, "an object", usage);
	char inside[64];
	snprintf(inside, sizeof inside, "%s.usage", at.inside);
	at.inside = inside;
	for (size_t i = 0; usage_count(r, i, &name, &to); i++)
		known[i] = name;
	if (descriptor_only_members(at, usage, known, err) < 0)
		return -1;
	for (size_t i = 0; usage_count(r, i, &name, &to); i++)
		if (compile_pointer_list(at, COUNTS, usage, name, to, err) < 0)
			return -1;
	return 0;
}

/* ---- finish reasons ---- */

static int compile_finish_words(struct descriptor_place at, json_t *map, struct api_response *r, struct ipf_error *err)
{
	static const char *const names[] = {"stop", "length", "tool_calls", "content_filter", "error", NULL};
	static const struct word_choice common = {names, "stop, length, tool_calls, content_filter, error or null"};
	const char *key;
	json_t *value;
	if (!map)
		return 0;
	if (!json_is_object(map))
		return descriptor_wrong(at, "finish_words", err, "an object", map);
	r->finish_words = calloc(json_object_size(map) + 1, sizeof *r->finish_words);
	if (!r->finish_words)
		return ipf_error_memory(err);
	char inside[64];
	snprintf(inside, sizeof inside, "%s.finish_words", at.inside);
	at.inside = inside;
	json_object_foreach(map, key, value)
	{
		int i = 0;
		if (!json_is_null(value) && compile_word(at, map, key, &common, &i, err) < 0)
			return -1;
		struct api_finish_word *word = &r->finish_words[r->finish_words_count++];
		word->server = strdup(key);
		word->common = json_is_null(value) ? NULL : strdup(names[i]);
		if (!word->server || (!word->common && !json_is_null(value)))
			return ipf_error_memory(err);
	}
	return 0;
}

/* ---- server timings ---- */

const char *const api_server_time_names[API_SERVER_TIMES] = {"load",          "queue",       "prefill",     "ttft",
                                                             "decode",        "tpot",        "inference",   "total",
                                                             "prefill_queue", "kv_transfer", "decode_queue"};

static int compile_timing(struct descriptor_place at, json_t *json, struct api_timing *t, struct ipf_error *err)
{
	static const char *const known[] = {"at", "from", "unit", NULL}, *const names[] = {"ns", "us", "ms", "s", NULL};
	static const struct word_choice units = {names, "ns, us, ms or s"};
	static const double sizes[] = {1, 1e3, 1e6, 1e9};
	int unit = 0;
	if (!json_is_object(json))
		return descriptor_wrong(at, "at", err, "an object with at and unit", json);
	if (descriptor_only_members(at, json, known, err) < 0 || compile_pointers(at, json, "at", &t->at, err) < 0 ||
	    compile_pointers(at, json, "from", &t->from, err) < 0 || compile_word(at, json, "unit", &units, &unit, err) < 0)
		return -1;
	if (!t->at.count && !t->at.header)
		return descriptor_wrong(at, "at", err, "an array of JSON Pointers", NULL);
	if (t->from.header)
		return descriptor_wrong(at, "from", err, "JSON Pointers without a header", json_object_get(json, "from"));
	t->unit_ns = sizes[unit];
	return 0;
}

static int compile_times(struct descriptor_place at, json_t *map, struct api_response *r, struct ipf_error *err)
{
	const char *key;
	json_t *value;
	char inside[96];
	if (map && !json_is_object(map))
		return descriptor_wrong(at, "server", err, "an object", map);
	json_object_foreach(map, key, value)
	{
		size_t i = 0;
		while (i < API_SERVER_TIMES && strcmp(api_server_time_names[i], key) != 0)
			i++;
		snprintf(inside, sizeof inside, "%s.server.%.40s", at.inside, key);
		if (i == API_SERVER_TIMES)
			return ipf_error_at(err, IPF_INPUT, at.file, 0, "%s: unknown member", inside);
		if (compile_timing(descriptor_inside(at, inside), value, &r->times[i], err) < 0)
			return -1;
	}
	return 0;
}

/* ---- response headers ---- */

const char *api_response_used_header(const struct api_response *r, size_t i)
{
	const struct api_pointers *usage[] = {&r->input_tokens, &r->output_tokens, &r->reasoning_tokens, &r->cached_tokens,
	                                      &r->total_tokens};
	for (size_t k = 0; k < sizeof usage / sizeof *usage; k++)
		if (usage[k]->header && i-- == 0)
			return usage[k]->header;
	for (size_t k = 0; k < API_DETAILS; k++)
		if (r->details[k].header && i-- == 0)
			return r->details[k].header;
	for (size_t k = 0; k < API_SERVER_TIMES; k++)
		if (r->times[k].at.header && i-- == 0)
			return r->times[k].at.header;
	return NULL;
}

/* Only token counts and timings may come from a header. */
static bool header_misplaced(const struct api_response *r)
{
	return r->hidden_reasoning.header || r->choice.header || r->text.header || r->prefix_len.header ||
	       r->token_ids.header || r->logprob_tokens.header || r->top_logprobs.header || r->prompt_token_ids.header ||
	       r->role.header || r->id.header || r->response_id.header || r->reasoning.header || r->tools.header ||
	       r->data.header || r->outputs.header || r->output_index.header || r->finish.header || r->error.header ||
	       r->end_when.header;
}

/* ---- the whole ---- */

static int compile_framing(struct descriptor_place at, json_t *json, struct api_response *r, struct ipf_error *err)
{
	static const struct word_choice framings = {
		framing_names, "\"sse\", \"ndjson\", \"json\", \"json-sequence\", \"grpc\" or \"bytes\""};
	static const char *const mode_names[] = {"delta", "cumulative", "cumulative-with-prompt", "prefix", NULL};
	static const struct word_choice modes = {mode_names,
	                                         "\"delta\", \"cumulative\", \"cumulative-with-prompt\" or \"prefix\""};
	static const char *const envelope_names[] = {"aws-eventstream", NULL};
	static const struct word_choice envelopes = {envelope_names, "\"aws-eventstream\""};
	int framing = 0, mode = 0, envelope = 0;
	if (compile_word(at, json, "framing", &framings, &framing, err) < 0 ||
	    compile_optional_word(at, json, "text_mode", &modes, &mode, err) < 0 ||
	    compile_optional_word(at, json, "envelope", &envelopes, &envelope, err) < 0)
		return -1;
	r->framing = (enum framing_kind)framing;
	r->text_mode = (enum api_text_mode)mode;
	r->envelope = json_object_get(json, "envelope") != NULL;
	if (r->envelope && r->framing == FRAMING_GRPC)
		return descriptor_error(at, "envelope", err, "not allowed with framing \"grpc\"");
	return 0;
}

/* Checks several members together. */
static int check_together(struct descriptor_place at, const struct api_response *r, struct ipf_error *err)
{
	if (r->framing == FRAMING_BYTES && (r->text.count || r->data.count || !r->end_at_eof || r->envelope))
		return descriptor_error(at, "framing", err,
		                        "\"bytes\" has neither text nor data nor an envelope, and ends by eof");
	if (r->framing != FRAMING_BYTES && !r->text.count && !r->data.count)
		return descriptor_wrong(at, "text", err, "an array of JSON Pointers", NULL);
	if (r->prefix_len.count && r->text_mode != API_PREFIX)
		return descriptor_error(at, "prefix_len", err, "requires text_mode \"prefix\"");
	if (!r->prefix_len.count && r->text_mode == API_PREFIX)
		return descriptor_error(at, "prefix_len", err, "required by text_mode \"prefix\"");
	if (r->output_index.count && !r->outputs.count)
		return descriptor_error(at, "output_index", err, "requires outputs");
	if (r->outputs.count && r->framing != FRAMING_JSON)
		return descriptor_error(at, "outputs", err, "requires framing \"json\"");
	if (r->parts > API_PARTS_MOST)
		return descriptor_error(at, "usage", err, "sums have more than 48 pointers in all");
	if (header_misplaced(r))
		return descriptor_error(at, "header", err, "only allowed in usage and server");
	if (r->error_event && r->framing != FRAMING_SSE)
		return descriptor_error(at, "error_event", err, "requires framing \"sse\"");
	return 0;
}

static void note_roots(struct api_response *r)
{
	const char *name;
	struct api_pointers *counts;
	for (size_t i = 0; usage_count(r, i, &name, &counts); i++) {
		api_roots_note(&r->roots, counts);
		if (counts->sum) {
			counts->sum->first_part = (uint8_t)r->parts;
			r->parts += counts->sum->count;
		}
	}
	for (size_t i = 0; i < API_SERVER_TIMES; i++)
		api_roots_note(&r->roots, &r->times[i].at);
}

static int compile_calls(struct descriptor_place at, json_t *calls, struct api_call_places *to, struct ipf_error *err)
{
	static const char *const known[] = {"choices", "choice", "each",      "single", "index",
	                                    "id",      "name",   "arguments", NULL};
	char inside[64];
	if (!calls)
		return 0;
	if (!json_is_object(calls))
		return descriptor_wrong(at, "calls", err, "an object with each, name and arguments", calls);
	snprintf(inside, sizeof inside, "%s.calls", at.inside);
	struct descriptor_place within = descriptor_inside(at, inside);
	if (descriptor_only_members(within, calls, known, err) < 0 ||
	    compile_pointers(within, calls, "choices", &to->choices, err) < 0 ||
	    compile_pointers(within, calls, "choice", &to->choice, err) < 0 ||
	    compile_pointers(within, calls, "each", &to->each, err) < 0 ||
	    compile_pointers(within, calls, "single", &to->single, err) < 0 ||
	    compile_pointers(within, calls, "index", &to->index, err) < 0 ||
	    compile_pointers(within, calls, "id", &to->id, err) < 0 ||
	    compile_pointers(within, calls, "name", &to->name, err) < 0 ||
	    compile_pointers(within, calls, "arguments", &to->arguments, err) < 0)
		return -1;
	const char *missing = !to->each.count        ? "each"
	                      : !to->name.count      ? "name"
	                      : !to->arguments.count ? "arguments"
	                                             : NULL;
	return missing ? descriptor_error(within, missing, err, "missing") : 0;
}

static int compile_rate(struct descriptor_place at, json_t *rate, struct api_response *r, struct ipf_error *err)
{
	if (!rate)
		return 0;
	r->pcm_rate = json_is_integer(rate) ? json_integer_value(rate) : 0;
	if (r->framing != FRAMING_BYTES)
		return descriptor_error(at, "pcm_rate", err, "requires framing \"bytes\"");
	return r->pcm_rate >= 1 && r->pcm_rate <= 1000000
	           ? 0
	           : descriptor_wrong(at, "pcm_rate", err, "samples a second, 1 to 1000000", rate);
}

static const char *const members[] = {"framing",
                                      "text_mode",
                                      "text",
                                      "reasoning",
                                      "tools",
                                      "finish",
                                      "error",
                                      "error_event",
                                      "usage",
                                      "end",
                                      "data",
                                      "text_after",
                                      "prefix_len",
                                      "token_ids",
                                      "logprob_tokens",
                                      "top_logprobs",
                                      "finish_words",
                                      "server",
                                      "envelope",
                                      "role",
                                      "outputs",
                                      "output_index",
                                      "content_required",
                                      "pcm_rate",
                                      "id",
                                      "response_id",
                                      "calls",
                                      "prompt_token_ids",
                                      "hidden_reasoning",
                                      "choice",
                                      NULL};

int api_response_compile(struct descriptor_place at, json_t *json, struct api_response *r, struct ipf_error *err)
{
	if (!json_is_object(json))
		return descriptor_wrong(descriptor_inside(at, NULL), at.inside, err, "an object", json);
	if (descriptor_only_members(at, json, members, err) < 0 || compile_framing(at, json, r, err) < 0 ||
	    compile_pointers(at, json, "text", &r->text, err) < 0 ||
	    compile_pointers(at, json, "reasoning", &r->reasoning, err) < 0 ||
	    compile_pointers(at, json, "tools", &r->tools, err) < 0 ||
	    compile_pointers(at, json, "hidden_reasoning", &r->hidden_reasoning, err) < 0 ||
	    compile_pointers(at, json, "choice", &r->choice, err) < 0 ||
	    compile_calls(at, json_object_get(json, "calls"), &r->calls, err) < 0 ||
	    compile_pointers(at, json, "finish", &r->finish, err) < 0 ||
	    compile_pointers(at, json, "error", &r->error, err) < 0 ||
	    compile_pointers(at, json, "data", &r->data, err) < 0 ||
	    compile_pointers(at, json, "outputs", &r->outputs, err) < 0 ||
	    compile_pointers(at, json, "output_index", &r->output_index, err) < 0 ||
	    compile_pointers(at, json, "prefix_len", &r->prefix_len, err) < 0 ||
	    compile_pointers(at, json, "token_ids", &r->token_ids, err) < 0 ||
	    compile_pointers(at, json, "logprob_tokens", &r->logprob_tokens, err) < 0 ||
	    compile_pointers(at, json, "top_logprobs", &r->top_logprobs, err) < 0 ||
	    compile_pointers(at, json, "prompt_token_ids", &r->prompt_token_ids, err) < 0 ||
	    compile_pointers(at, json, "role", &r->role, err) < 0 || compile_pointers(at, json, "id", &r->id, err) < 0 ||
	    compile_pointers(at, json, "response_id", &r->response_id, err) < 0 ||
	    copy_string(at, json, "text_after", &r->text_after, err) < 0 ||
	    copy_string(at, json, "error_event", &r->error_event, err) < 0 ||
	    compile_finish_words(at, json_object_get(json, "finish_words"), r, err) < 0 ||
	    compile_times(at, json_object_get(json, "server"), r, err) < 0 ||
	    compile_usage(at, json_object_get(json, "usage"), r, err) < 0 ||
	    compile_end(at, json_object_get(json, "end"), r, err) < 0)
		return -1;
	json_t *required = json_object_get(json, "content_required");
	if (required && !json_is_true(required))
		return descriptor_wrong(at, "content_required", err, "true", required);
	r->content_required = required != NULL;
	if (compile_rate(at, json_object_get(json, "pcm_rate"), r, err) < 0)
		return -1;
	note_roots(r);
	r->has_headers = api_response_used_header(r, 0) != NULL;
	return check_together(at, r, err);
}

void api_response_release(struct api_response *r)
{
	struct api_pointers *all[] = {&r->text,
	                              &r->reasoning,
	                              &r->tools,
	                              &r->finish,
	                              &r->error,
	                              &r->input_tokens,
	                              &r->output_tokens,
	                              &r->reasoning_tokens,
	                              &r->cached_tokens,
	                              &r->end_when,
	                              &r->data,
	                              &r->prefix_len,
	                              &r->token_ids,
	                              &r->logprob_tokens,
	                              &r->top_logprobs,
	                              &r->prompt_token_ids,
	                              &r->total_tokens,
	                              &r->hidden_reasoning,
	                              &r->choice,
	                              &r->role,
	                              &r->outputs,
	                              &r->output_index,
	                              &r->id,
	                              &r->response_id,
	                              &r->calls.choices,
	                              &r->calls.choice,
	                              &r->calls.each,
	                              &r->calls.single,
	                              &r->calls.index,
	                              &r->calls.id,
	                              &r->calls.name,
	                              &r->calls.arguments};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		api_pointers_release(all[i]);
	for (size_t i = 0; i < API_DETAILS; i++)
		api_pointers_release(&r->details[i]);
	for (size_t i = 0; i < API_SERVER_TIMES; i++) {
		api_pointers_release(&r->times[i].at);
		api_pointers_release(&r->times[i].from);
	}
	for (size_t i = 0; i < r->finish_words_count; i++) {
		free(r->finish_words[i].server);
		free(r->finish_words[i].common);
	}
	free(r->finish_words);
	free(r->text_after);
	free(r->error_event);
	free(r->end_data);
}
