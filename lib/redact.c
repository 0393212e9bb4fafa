#include "redact.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HOST_MOST  128 /* a longer text before the path is rather a token than a host */
#define DEPTH_MOST 64  /* depth of nested streams and parameters */

/* Headers of requests and responses. ipf(7) lists them, too. */
static const char *const public_headers[] = {
	"accept",
	"accept-charset",
	"accept-encoding",
	"accept-language",
	"accept-ranges",
	"age",
	"allow",
	"anthropic-beta",
	"anthropic-version",
	"cache-control",
	"cf-ray",
	"connection",
	"content-encoding",
	"content-language",
	"content-length",
	"content-type",
	"date",
	"etag",
	"expect",
	"expires",
	"grpc-accept-encoding",
	"grpc-encoding",
	"grpc-message",
	"grpc-status",
	"grpc-timeout",
	"host",
	"keep-alive",
	"last-modified",
	"mm-model-id",
	"openai-model",
	"openai-processing-ms",
	"openai-version",
	"pragma",
	"priority",
	"retry-after",
	"server",
	"server-timing",
	"te",
	"traceparent",
	"trailer",
	"transfer-encoding",
	"upgrade",
	"user-agent",
	"vary",
	"via",
	"x-compute-characters",
	"x-compute-time",
	"x-compute-tokens",
	"x-compute-type",
	"x-correlation-id",
	"x-envoy-upstream-service-time",
	"x-generated-tokens",
	"x-inference-time",
	"x-process-time",
	"x-prompt-tokens",
	"x-queue-time",
	"x-ratelimit-limit-requests",
	"x-ratelimit-limit-tokens",
	"x-ratelimit-remaining-requests",
	"x-ratelimit-remaining-tokens",
	"x-ratelimit-reset-requests",
	"x-ratelimit-reset-tokens",
	"x-request-id",
	"x-response-time",
	"x-runtime",
	"x-time-per-token",
	"x-tokenization-time",
	"x-total-time",
	"x-validation-time",
};

/* Parameters of request bodies, and the objects in which APIs expect them. */
static const char *const public_params[] = {
	"add_generation_prompt",
	"add_special_tokens",
	"assistant",
	"bad_words",
	"beam_width",
	"best_of",
	"bool_contents",
	"budget_tokens",
	"bvalue",
	"cache_prompt",
	"call_ids",
	"chat_template_kwargs",
	"content",
	"continue_final_message",
	"continuous_usage_stats",
	"datatype",
	"decoder_input_details",
	"details",
	"dimensions",
	"diversity_penalty",
	"do_sample",
	"early_stopping",
	"echo",
	"effort",
	"embedding_types",
	"enable_thinking",
	"encoding_format",
	"exclude_input_from_output",
	"extra_body",
	"fp32_contents",
	"fp64_contents",
	"frequencyPenalty",
	"frequency_penalty",
	"fvalue",
	"generationConfig",
	"generation_config",
	"ignore_eos",
	"include[]",
	"include_stop_str_in_output",
	"include_usage",
	"inferenceConfig",
	"input_type",
	"int64_contents",
	"int_contents",
	"ivalue",
	"kind",
	"language",
	"length_penalty",
	"logprobs",
	"maxOutputTokens",
	"maxTokens",
	"max_completion_tokens",
	"max_new_tokens",
	"max_output_tokens",
	"max_prompt_tokens",
	"max_tokens",
	"min_new_tokens",
	"min_p",
	"min_tokens",
	"mirostat",
	"mirostat_eta",
	"mirostat_tau",
	"modalities",
	"model",
	"n",
	"n_predict",
	"n_probs",
	"name",
	"normalize",
	"num_beams",
	"num_ctx",
	"num_predict",
	"nvext",
	"options",
	"parallel_tool_calls",
	"parameters",
	"presencePenalty",
	"presence_penalty",
	"priority",
	"prompt_logprobs",
	"raw_scores",
	"reasoning",
	"reasoning_effort",
	"repeat_penalty",
	"repetition_penalty",
	"responseMimeType",
	"response_format",
	"return_documents",
	"return_full_text",
	"role",
	"sampling_params",
	"seed",
	"service_tier",
	"shape",
	"skip_special_tokens",
	"spaces_between_special_tokens",
	"speed",
	"stop",
	"stopSequences",
	"stop_sequences",
	"stop_token_ids",
	"stop_words",
	"store",
	"stream",
	"stream_format",
	"stream_include_usage",
	"stream_options",
	"temperature",
	"thinking",
	"thinkingBudget",
	"thinkingConfig",
	"timestamp_granularities[]",
	"tool",
	"tool_choice",
	"topK",
	"topP",
	"top_k",
	"top_logprobs",
	"top_n",
	"top_n_tokens",
	"top_p",
	"truncate",
	"truncate_prompt_tokens",
	"truncation_direction",
	"type",
	"typical_p",
	"uint64_contents",
	"uint_contents",
	"use_beam_search",
	"verbosity",
	"voice",
	"watermark",
};

#define COUNT(list) (sizeof(list) / sizeof *(list))

bool redact_header_is_public(const char *name, size_t len)
{
	for (size_t i = 0; i < COUNT(public_headers); i++)
		if (strlen(public_headers[i]) == len && !strncasecmp(public_headers[i], name, len))
			return true;
	return false;
}

bool redact_header_is_credential(const char *name, size_t len)
{
	static const char *const credentials[] = {
		"authorization", "cookie",      "proxy-authenticate", "proxy-authorization",
		"set-cookie",    "set-cookie2", "www-authenticate",   "x-amz-security-token",
		"x-api-key"};
	for (size_t i = 0; i < COUNT(credentials); i++)
		if (strlen(credentials[i]) == len && !strncasecmp(credentials[i], name, len))
			return true;
	return false;
}

bool redact_header_may_be_credential(const char *name, size_t len)
{
	static const char *const words[] = {"key", "token", "auth", "secret", "cookie", "password", "credential"};
	bool may = redact_header_is_credential(name, len);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		const size_t word = strlen(words[i]);
		for (size_t at = 0; at + word <= len; at++)
			may |= strncasecmp(name + at, words[i], word) == 0;
	}
	return may;
}

static bool is_public_param(const char *name, size_t len)
{
	for (size_t i = 0; i < COUNT(public_params); i++)
		if (strlen(public_params[i]) == len && !memcmp(public_params[i], name, len))
			return true;
	return false;
}

bool redact_value_is_credential(struct slice value)
{
	return (value.len > 7 && strncasecmp(value.data, "bearer ", 7) == 0) ||
	       (value.len > 6 && strncasecmp(value.data, "basic ", 6) == 0);
}

bool redact_param_is_public(const char *key)
{
	if (*key != '/')
		return is_public_param(key, strlen(key));
	for (size_t len; *key == '/'; key += len) {
		key++;
		len = strcspn(key, "/");
		bool index = len && strspn(key, "0123456789") >= len;
		if (!index && !is_public_param(key, len))
			return false;
	}
	return true;
}

/* ---- URLs ---- */

#define PUNCTUATION ",;:.)" /* may follow a URL in a sentence */

static bool is_port(const char *text, size_t len)
{
	size_t digits = strspn(text, "0123456789");
	return digits <= 5 && (digits >= len || strspn(text + digits, PUNCTUATION) >= len - digits);
}

/* The colon before the port, or before a password without the rest of its URL; NULL: there is neither. */
static const char *find_port(const char *host, size_t len)
{
	while (len > 1 && strchr(PUNCTUATION, host[len - 1]))
		len--;
	const char *colon = memrchr(host, ':', len), *bracket = memrchr(host, ']', len);
	return bracket && *host == '[' && bracket > colon ? NULL : colon;
}

/* No host has such a name; an IPv6 address has brackets. */
static bool is_odd_host(const char *host, size_t len)
{
	return !len || (*host != '[' && (memchr(host, ':', len) || memchr(host, ' ', len) || memchr(host, '\t', len)));
}

#define SCHEME "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-."

/* Bytes of user, password, host and port, or possible ones. */
static size_t authority_len(const char *url)
{
	size_t len = strcspn(url, "/?#");
	/* the scheme of the next one in a list with commas */
	const char *comma = len && !strncmp(url + len - 1, "://", 3) ? memrchr(url, ',', len) : NULL;
	const size_t scheme = comma ? (size_t)(url + len - 1 - (comma + 1)) : 0;
	return comma && strspn(comma + 1, SCHEME) >= scheme ? (size_t)(comma - url) : len;
}

/* Appends host and port of "user:password@host:port" of `len` bytes. `rest`: the bytes until the end of the text, in
 * which the "@" is if the password contains a slash or a space; `ends`: characters ending a URL there. Returns the
 * bytes read. */
static size_t redact_authority(const char *text, size_t len, size_t rest, const char *ends, struct buffer *out)
{
	const char *at = memrchr(text, '@', len);
	const char *host = at ? at + 1 : text;
	size_t host_len = len - (size_t)(host - text);
	const char *colon = find_port(host, host_len);
	bool odd = colon && !is_port(colon + 1, host_len - (size_t)(colon + 1 - host));
	bool odd_host = colon && is_odd_host(host, (size_t)(colon - host));
	if ((odd || odd_host) && (at = memrchr(text + len, '@', rest - len))) {
		/* a password with a slash, a question mark or a number sign; the host comes after it */
		size_t left = authority_len(at + 1), end = strcspn(at + 1, ends);
		left = left < end ? left : end;
		if (!left)
			buffer_text(out, REDACTED);
		return (size_t)(at + 1 - text) + redact_authority(at + 1, left, left, ends, out);
	}
	if (odd)
		host_len = (size_t)(colon - host) + sizeof ":" REDACTED - 1; /* the bytes written */
	if (host_len > HOST_MOST || (at && !host_len)) /* without a host the path would be taken for one */
		buffer_text(out, REDACTED);
	else if (odd)
		buffer_format(out, "%.*s:" REDACTED, (int)(colon - host), host);
	else
		buffer_append(out, host, host_len);
	return len;
}

/* Where a URL ends in a message. */
#define MESSAGE_ENDS " \t\r\n\"'"

/* Appends `len` bytes of a path; "user:password@" at the beginning of a part is redacted. */
static void redact_path_parts(const char *path, size_t len, struct buffer *out)
{
	for (size_t part; len; path += part, len -= part) {
		const char *slash = memchr(path, '/', len);
		part = slash ? (size_t)(slash + 1 - path) : len;
		const char *at = memrchr(path, '@', part), *colon = at ? memchr(path, ':', (size_t)(at - path)) : NULL;
		if (colon)
			buffer_text(out, REDACTED);
		buffer_append(out, colon ? at : path, part - (colon ? (size_t)(at - path) : 0));
	}
}

/* Appends the text with its URLs redacted; `ends`: the characters ending a URL. */
static void redact_urls(const char *text, const char *ends, struct buffer *out)
{
	for (const char *mark; (mark = strstr(text, "://"));) {
		const char *url = mark + 3 + strspn(mark + 3, "/"); /* libcurl skips more slashes, too */
		size_t len = strcspn(url, ends), authority = authority_len(url);
		buffer_append(out, text, (size_t)(url - text));
		if (authority > len)
			authority = len;
		text = url + redact_authority(url, authority, strlen(url), ends, out);
		len = (size_t)(text - url) < len ? len - (size_t)(text - url) : strcspn(text, ends);
		size_t path = strcspn(text, "?#"), inner = len;
		/* a path may contain another URL */
		const char *again = strstr(text, "://");
		if (again && (size_t)(again - text) < len)
			inner = (size_t)(again - text);
		if (path >= inner) {
			redact_path_parts(text, inner, out);
			text += inner;
			continue;
		}
		redact_path_parts(text, path, out);
		/* a fragment is never sent; not even its presence matters */
		if (text[path] == '?')
			buffer_text(out, "?" REDACTED);
		text += len;
	}
	buffer_text(out, text);
}

void redact_value(const char *text, struct buffer *out)
{
	redact_urls(text, "", out);
}

void redact_url(const char *text, struct buffer *out)
{
	const char *at = strrchr(text, '@');
	if (strstr(text, "://")) {
		redact_value(text, out);
		return;
	}
	if (at)
		buffer_text(out, REDACTED);
	text = at ? at : text;
	size_t query = strcspn(text, "?#");
	buffer_append(out, text, query);
	if (text[query])
		buffer_text(out, "?" REDACTED);
}

/* Appends the text with "user:password@" before a host redacted, in words containing no slash before it. */
static void redact_users(const char *text, struct buffer *out)
{
	while (*text) {
		size_t word = strcspn(text, MESSAGE_ENDS);
		const char *at = memrchr(text, '@', word), *colon = at ? memchr(text, ':', (size_t)(at - text)) : NULL;
		const char *slash = colon ? memchr(text, '/', (size_t)(colon - text)) : NULL;
		if (colon && colon > text && !slash && strncmp(colon, "://", 3) != 0) {
			buffer_text(out, REDACTED);
			word -= (size_t)(at - text);
			text = at;
		}
		buffer_append(out, text, word);
		text += word;
		if (*text)
			buffer_byte(out, *text++);
	}
}

void redact_message(char *text, size_t cap)
{
	struct buffer urls = {0}, users = {0};
	if (!strstr(text, "://") && !strchr(text, '@'))
		return;
	redact_urls(text, MESSAGE_ENDS, &urls);
	if (!urls.failed)
		redact_users(urls.data ? urls.data : "", &users);
	snprintf(text, cap, "%s", urls.failed || users.failed ? REDACTED : users.data ? users.data : "");
	buffer_release(&urls);
	buffer_release(&users);
}

/* ---- headers and parameters ---- */

static bool is_placeholder(const char *value)
{
	static const char *const fields[] = {"$id", "$session", "$agent", "$parent_agent", "$model", "$traceparent"};
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (!strcmp(value, fields[i]))
			return true;
	return false;
}

void redact_header(const char *line, struct buffer *out)
{
	const char *colon = strchr(line, ':');
	if (!colon) {
		buffer_text(out, REDACTED);
		return;
	}
	const char *value = colon + 1 + strspn(colon + 1, " \t");
	if (!*value || is_placeholder(value) || redact_header_is_public(line, (size_t)(colon - line))) {
		redact_value(line, out);
		return;
	}
	buffer_append(out, line, (size_t)(colon - line));
	buffer_text(out, ": " REDACTED);
}

static json_t *redact_json(const char *key, json_t *value, bool *changed, int depth);

/* Is the member the value of a tensor of the KServe protocol, {"name": …, "data": …}, whose name is public? */
static bool is_public_tensor(json_t *object, const char *member)
{
	const char *name = json_string_value(json_object_get(object, "name"));
	return name && redact_param_is_public(name) && (!strcmp(member, "data") || !strcmp(member, "contents"));
}

static json_t *redact_members(json_t *value, bool *changed, int depth)
{
	json_t *new = json_object(), *member;
	const char *name;
	json_object_foreach(value, name, member)
	{
		const char *key = is_public_tensor(value, name) ? "parameters" : name;
		if (new &&json_object_set_new(new, name, redact_json(key, member, changed, depth)) < 0) {
			json_decref(new);
			new = NULL;
		}
	}
	return new;
}

/* A new value: of the parameter `key`, or of the element of a list that is its value. */
static json_t *redact_json(const char *key, json_t *value, bool *changed, int depth)
{
	json_t *element;
	size_t i;
	if (!redact_param_is_public(key) || depth > DEPTH_MOST) {
		*changed = true;
		return json_string(REDACTED);
	}
	if (json_is_object(value))
		return redact_members(value, changed, depth + 1);
	if (json_is_array(value)) {
		json_t *new = json_array();
		json_array_foreach(
			value, i, element) if (new &&json_array_append_new(new, redact_json(key, element, changed, depth + 1)) < 0)
		{
			json_decref(new);
			new = NULL;
		}
		return new;
	}
	const char *text = json_string_value(value);
	if (!text || !strstr(text, "://"))
		return json_incref(value);
	struct buffer clean = {0};
	redact_value(text, &clean);
	json_t *new = clean.failed ? NULL : json_stringn(clean.data, clean.len);
	*changed |= strcmp(text, clean.data ? clean.data : "") != 0;
	buffer_release(&clean);
	return new;
}

json_t *redact_params(json_t *params)
{
	bool changed = false;
	return redact_members(params, &changed, 0);
}

void redact_param(const char *text, struct buffer *out)
{
	const char *equals = strchr(text, '=');
	bool changed = false;
	char *key = equals ? strndup(text, (size_t)(equals - text)) : NULL;
	json_t *value = equals ? json_loads(equals + 1, JSON_DECODE_ANY, NULL) : NULL;
	json_t *clean = key && value ? redact_json(key, value, &changed, 0) : NULL;
	char *dumped = clean && changed && !json_is_string(clean) ? json_dumps(clean, JSON_ENCODE_ANY | JSON_COMPACT)
	                                                          : NULL;
	if (equals)
		buffer_append(out, text, (size_t)(equals + 1 - text));
	if (clean && !changed)
		buffer_text(out, equals + 1);
	else
		buffer_text(out, dumped ? dumped : REDACTED);
	free(dumped);
	free(key);
	json_decref(value);
	json_decref(clean);
}

/* ---- a stream's header ---- */

typedef void redactor(const char *text, struct buffer *out);

/* Is the word "--NAME" or a beginning of it, followed by `after`? */
static bool is_option(const char *word, const char *name, char after)
{
	size_t len = strncmp(word, "--", 2) ? 0 : strcspn(word + 2, "=");
	return len && strncmp(word + 2, name, len) == 0 && word[2 + len] == after;
}

/* How a word of a command line is redacted. `before`: the word before it; `*prefix`: how much of it is the option's
 * name. */
static redactor *redactor_of(const char *word, const char *before, size_t *prefix)
{
	*prefix = 0;
	if (!strcmp(before, "-H") || is_option(before, "header", '\0'))
		return redact_header;
	if (is_option(before, "param", '\0'))
		return redact_param;
	*prefix = strcspn(word, "=") + 1;
	if (is_option(word, "header", '='))
		return redact_header;
	if (is_option(word, "param", '='))
		return redact_param;
	*prefix = 2;
	if (!strncmp(word, "-H", 2) && word[2])
		return redact_header;
	*prefix = 0;
	return redact_value;
}

static int replace(json_t *list, size_t i, struct buffer *clean)
{
	json_t *new = clean->failed ? NULL : json_stringn(clean->data ? clean->data : "", clean->len);
	buffer_release(clean);
	return json_array_set_new(list, i, new);
}

static int redact_argv(json_t *argv)
{
	const char *before = "", *text;
	bool operands = false;
	for (size_t i = 0; i < json_array_size(argv); i++, before = text ? text : "") {
		struct buffer clean = {0};
		size_t prefix = 0;
		if (!(text = json_string_value(json_array_get(argv, i))))
			continue;
		redactor *redact = operands ? redact_value : redactor_of(text, before, &prefix);
		operands |= redact == redact_value && !strcmp(text, "--");
		buffer_append(&clean, text, prefix);
		redact(text + prefix, &clean);
		if (replace(argv, i, &clean) < 0)
			return -1;
		/* a header's value is not the name of an option */
		text = redact == redact_value ? json_string_value(json_array_get(argv, i)) : NULL;
	}
	return 0;
}

static int redact_member(json_t *object, const char *name, redactor *redact)
{
	json_t *value = json_object_get(object, name);
	int result = 0;
	for (size_t i = 0; i < json_array_size(value) && result == 0; i++) {
		struct buffer clean = {0};
		const char *text = json_string_value(json_array_get(value, i));
		if (text) {
			redact(text, &clean);
			result = replace(value, i, &clean);
		}
	}
	if (json_is_string(value)) {
		struct buffer clean = {0};
		redact(json_string_value(value), &clean);
		result = clean.failed
		             ? -1
		             : json_object_set_new(object, name, json_stringn(clean.data ? clean.data : "", clean.len));
		buffer_release(&clean);
	}
	return result;
}

/* A path of the API: keeps only those parts of its query that select a form of the API. */
static void redact_path(const char *path, struct buffer *out)
{
	size_t len = strcspn(path, "?#");
	bool harmless = !strncmp(path + len, "?alt=", 5) || !strncmp(path + len, "?api-version=", 13);
	if (harmless && !strpbrk(path + len, "&#"))
		len = strlen(path);
	buffer_append(out, path, len);
	if (path[len])
		buffer_text(out, "?" REDACTED);
}

/* Replaces the texts of a body template whose name is not public; "$…" names a field or is an operator. */
static int redact_template(json_t *template, bool public, int depth)
{
	const char *name, *text = json_string_value(template);
	json_t *value;
	size_t i;
	int bad = 0;
	if (text && *text != '$' && !public)
		return json_string_set(template, REDACTED);
	if (depth > DEPTH_MOST)
		return 0;
	bool is_operator = false;
	json_array_foreach(template, i, value) bad |= redact_template(value, public, depth + 1);
	json_object_foreach(template, name, value) is_operator |= *name == '$';
	/* {"$if": …, "then": …} is the value of the member it is in */
	json_object_foreach(template, name, value) bad |= redact_template(
		value, *name == '$' || (is_operator && public) || is_public_param(name, strlen(name)), depth + 1);
	return bad;
}

int redact_api(json_t *api)
{
	static const char *const templates[] = {"body", "stream", "whole", "exact_output", "recorded_answers"};
	json_t *request = json_object_get(api, "request"), *value;
	const char *name;
	int bad = redact_member(api, "path", redact_path) | redact_member(api, "ready", redact_path);
	/* a path that was a text has been replaced */
	json_t *path = json_object_get(api, "path");
	bad |= redact_member(path, "stream", redact_path) | redact_member(path, "whole", redact_path);
	json_object_foreach(json_object_get(request, "headers"), name, value)
	{
		const char *text = json_string_value(value);
		if (text && !is_placeholder(text) && !redact_header_is_public(name, strlen(name)))
			bad |= json_string_set(value, REDACTED);
	}
	for (size_t i = 0; i < COUNT(templates); i++)
		bad |= redact_template(json_object_get(request, templates[i]), false, 0);
	return bad ? -1 : 0;
}

static int redact_headers(json_t *header, int depth)
{
	json_t *from = json_object_get(header, "from"), *params = json_object_get(header, "params"), *entry;
	size_t i;
	int bad = redact_argv(json_object_get(header, "argv"));
	if (json_is_object(params))
		bad |= json_object_set_new(header, "params", redact_params(params));
	bad |= redact_member(header, "target", redact_value) | redact_member(header, "targets", redact_value);
	bad |= redact_member(header, "proxy", redact_value) | redact_member(header, "url", redact_value);
	bad |= redact_member(header, "file", redact_value) | redact_member(header, "name", redact_value);
	bad |= redact_api(json_object_get(header, "api"));
	if (depth < DEPTH_MOST)
		json_array_foreach(from, i, entry) bad |= redact_headers(entry, depth + 1);
	return bad;
}

int redact_stream_header(json_t *header)
{
	return redact_headers(header, 0) ? -1 : 0;
}
