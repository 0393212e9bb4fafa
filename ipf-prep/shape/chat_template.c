#include "shape/chat_template.h"

#include "absent.h"
#include "json/jdoc.h"
#include "cli/options.h"
#include "cli/units.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_SECONDS 20L
#define ANSWER_SECONDS  120L
#define ANSWER_MAX      ((size_t)16 << 20)

/* What is asked with. A token or two in every vocabulary, and no template does anything to it. */
#define WORD "Hello"

struct asking {
	CURL *curl;
	struct curl_slist *headers;
	struct buffer base, model; /* model: JSON text; empty: the server names none */
	struct buffer url, body, answer;
	struct jdoc doc;
	long status;
	char problem[CURL_ERROR_SIZE];
	const char *how;
};

static size_t take(char *bytes, size_t size, size_t count, void *data)
{
	struct buffer *to = data;
	if (to->len + size * count > ANSWER_MAX)
		return 0;
	buffer_append(to, bytes, size * count);
	return to->failed ? 0 : size * count;
}

/* 1: status 200 and JSON, in a->doc; 0: another answer; -1: none. `body` NULL: GET. */
static int ask(struct asking *a, const char *path, const char *body, struct ipf_error *err)
{
	buffer_clear(&a->url);
	buffer_clear(&a->answer);
	buffer_slice(&a->url, buffer_all(&a->base));
	buffer_text(&a->url, path);
	if (a->url.failed || (body && a->body.failed))
		return ipf_error_memory(err);
	a->problem[0] = '\0';
	curl_easy_setopt(a->curl, CURLOPT_URL, a->url.data);
	if (body) {
		curl_easy_setopt(a->curl, CURLOPT_POST, 1L);
		curl_easy_setopt(a->curl, CURLOPT_POSTFIELDS, body);
	} else {
		curl_easy_setopt(a->curl, CURLOPT_HTTPGET, 1L);
	}
	CURLcode code = curl_easy_perform(a->curl);
	if (code != CURLE_OK)
		return ipf_error_set(err, IPF_SYSTEM, "--template-tokens: %s: %s", a->url.data,
		                     a->problem[0] ? a->problem : curl_easy_strerror(code));
	curl_easy_getinfo(a->curl, CURLINFO_RESPONSE_CODE, &a->status);
	if (a->status != 200)
		return 0;
	struct ipf_error ignored = {0};
	return jdoc_parse(&a->doc, a->answer.data ? a->answer.data : "", a->answer.len, &ignored) == 0;
}

/* The body's beginning: the model and the messages, without the last brace. */
static void write_messages(struct asking *a, int messages)
{
	buffer_clear(&a->body);
	buffer_text(&a->body, "{");
	if (a->model.len)
		buffer_format(&a->body, "\"model\":%s,", a->model.data);
	buffer_text(&a->body, "\"messages\":[");
	for (int i = 0; i < messages; i++)
		buffer_format(&a->body, "%s{\"role\":\"%s\",\"content\":\"" WORD "\"}", i ? "," : "",
		              i % 2 ? "assistant" : "user");
	buffer_text(&a->body, "]");
}

static int64_t number_at(const struct asking *a, jdoc_id node)
{
	int64_t count;
	return jdoc_to_int(&a->doc, node, &count) && count > 0 ? count : IPF_ABSENT;
}

/* vLLM's. */
static int by_tokenize(struct asking *a, int messages, int64_t *count, struct ipf_error *err)
{
	write_messages(a, messages);
	buffer_text(&a->body, ",\"add_generation_prompt\":true}");
	int found = ask(a, "/tokenize", a->body.data, err);
	*count = found > 0 ? number_at(a, jdoc_get(&a->doc, JDOC_ROOT, "count")) : IPF_ABSENT;
	a->how = "/tokenize";
	return found;
}

/* llama.cpp's. */
static int by_template(struct asking *a, int messages, int64_t *count, struct ipf_error *err)
{
	*count = IPF_ABSENT;
	a->how = "/apply-template";
	write_messages(a, messages);
	buffer_text(&a->body, "}");
	int found = ask(a, "/apply-template", a->body.data, err);
	jdoc_id prompt = found > 0 ? jdoc_get(&a->doc, JDOC_ROOT, "prompt") : JDOC_NONE;
	if (found <= 0 || jdoc_type_of(&a->doc, prompt) != JDOC_TEXT)
		return found;
	buffer_clear(&a->body);
	buffer_text(&a->body, "{\"content\":");
	buffer_slice(&a->body, jdoc_raw(&a->doc, prompt));
	buffer_text(&a->body, ",\"add_special\":true,\"parse_special\":true}");
	found = ask(a, "/tokenize", a->body.data, err);
	jdoc_id tokens = found > 0 ? jdoc_get(&a->doc, JDOC_ROOT, "tokens") : JDOC_NONE;
	if (found > 0 && jdoc_type_of(&a->doc, tokens) == JDOC_LIST && jdoc_count(&a->doc, tokens) > 0)
		*count = (int64_t)jdoc_count(&a->doc, tokens);
	return found;
}

static int by_usage(struct asking *a, int messages, int64_t *count, struct ipf_error *err)
{
	write_messages(a, messages);
	buffer_text(&a->body, ",\"max_tokens\":1}");
	int found = ask(a, "/v1/chat/completions", a->body.data, err);
	*count = found > 0 ? number_at(a, jdoc_get(&a->doc, jdoc_get(&a->doc, JDOC_ROOT, "usage"), "prompt_tokens"))
	                   : IPF_ABSENT;
	a->how = "/v1/chat/completions";
	return found;
}

/* The model that the server names first; none is no error. */
static int ask_model(struct asking *a, struct ipf_error *err)
{
	int found = ask(a, "/v1/models", NULL, err);
	jdoc_id list = found > 0 ? jdoc_get(&a->doc, JDOC_ROOT, "data") : JDOC_NONE;
	if (found > 0 && jdoc_type_of(&a->doc, list) == JDOC_LIST && jdoc_count(&a->doc, list) > 0) {
		jdoc_id id = jdoc_get(&a->doc, jdoc_at(&a->doc, list, 0), "id");
		if (jdoc_type_of(&a->doc, id) == JDOC_TEXT)
			buffer_slice(&a->model, jdoc_raw(&a->doc, id));
	}
	return found;
}

static int ask_counts(struct asking *a, int64_t *one, int64_t *three, struct ipf_error *err)
{
	static int (*const ways[])(struct asking *, int, int64_t *, struct ipf_error *) = {by_tokenize, by_template,
	                                                                                   by_usage};
	if (ask_model(a, err) < 0)
		return -1;
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		if (ways[i](a, 1, one, err) < 0)
			return -1;
		if (*one != IPF_ABSENT)
			return ways[i](a, 3, three, err) < 0 ? -1 : 0;
	}
	return ipf_error_set(
		err, IPF_INPUT,
		"--template-tokens: %s: expected a count from /tokenize, /apply-template or /v1/chat/completions, got status %ld",
		a->base.data, a->status);
}

static int cost_of(struct chat_template_cost *cost, const struct asking *a, int64_t one, int64_t three,
                   const struct token_counter *tokens, struct ipf_error *err)
{
	int64_t word = token_counter_count(tokens, WORD, strlen(WORD));
	if (one < word || (three != IPF_ABSENT && three < one + 2 * word))
		return ipf_error_set(
			err, IPF_INPUT,
			"--template-tokens: %s counts fewer tokens than the texts have: is the tokenizer (-t) the server's?",
			a->url.data);
	*cost = (struct chat_template_cost){.chat = one - word, .message = IPF_ABSENT, .how = a->how};
	/* of a question and an answer, which may differ by one */
	if (three != IPF_ABSENT)
		cost->message = (three - one - 2 * word + 1) / 2;
	return 0;
}

static int ask_server(struct chat_template_cost *cost, const char *url, const struct token_counter *tokens,
                      struct ipf_error *err)
{
	struct asking a = {.curl = curl_easy_init()};
	const char *key = getenv("OPENAI_API_KEY");
	struct buffer authorization = {0};
	size_t len = strlen(url);
	int64_t one = IPF_ABSENT, three = IPF_ABSENT;
	int status = -1;

	while (len && url[len - 1] == '/')
		len--;
	if (len > 3 && strncmp(url + len - 3, "/v1", 3) == 0)
		len -= 3;
	buffer_append(&a.base, url, len);
	a.headers = curl_slist_append(NULL, "Content-Type: application/json");
	if (key && key[0]) {
		buffer_format(&authorization, "Authorization: Bearer %s", key);
		struct curl_slist *more = authorization.failed ? NULL : curl_slist_append(a.headers, authorization.data);
		a.headers = more ? more : a.headers;
	}
	if (!a.curl || !a.headers || a.base.failed || authorization.failed) {
		ipf_error_memory(err);
	} else {
		curl_easy_setopt(a.curl, CURLOPT_HTTPHEADER, a.headers);
		curl_easy_setopt(a.curl, CURLOPT_NOSIGNAL, 1L);
		curl_easy_setopt(a.curl, CURLOPT_PROXY, ""); /* as ipf-fire, which will send to it */
		curl_easy_setopt(a.curl, CURLOPT_PROTOCOLS_STR, "http,https");
		curl_easy_setopt(a.curl, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
		curl_easy_setopt(a.curl, CURLOPT_TIMEOUT, ANSWER_SECONDS);
		curl_easy_setopt(a.curl, CURLOPT_ERRORBUFFER, a.problem);
		curl_easy_setopt(a.curl, CURLOPT_WRITEFUNCTION, take);
		curl_easy_setopt(a.curl, CURLOPT_WRITEDATA, &a.answer);
		status = ask_counts(&a, &one, &three, err);
		if (status == 0)
			status = cost_of(cost, &a, one, three, tokens, err);
	}
	curl_easy_cleanup(a.curl);
	curl_slist_free_all(a.headers);
	struct buffer *all[] = {&a.base, &a.model, &a.url, &a.body, &a.answer, &authorization};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		buffer_release(all[i]);
	jdoc_release(&a.doc);
	return status;
}

int chat_template_parse(struct chat_template_cost *cost, const char *text, const struct token_counter *tokens,
                        struct ipf_error *err)
{
	char first[32];
	const char *comma = text ? strchr(text, ',') : NULL;
	struct ipf_error wrong = {0};

	*cost = (struct chat_template_cost){.message = IPF_ABSENT};
	if (!text)
		return 0;
	if (strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0)
		return ask_server(cost, text, tokens, err);
	if (snprintf(first, sizeof first, "%.*s", comma ? (int)(comma - text) : (int)strlen(text), text) <
	        (int)sizeof first &&
	    parse_count(first, &cost->chat, &wrong) == 0 && (!comma || parse_count(comma + 1, &cost->message, &wrong) == 0))
		return 0;
	return ipf_error_set(err, IPF_USAGE, "--template-tokens: expected N, N,M or the URL of a server, got \"%s\"", text);
}

int64_t chat_template_adds(const struct chat_template_cost *cost, size_t messages, bool goes_on)
{
	if (cost->message == IPF_ABSENT || messages == 0)
		return cost->chat;
	int64_t n = (int64_t)messages;
	/* what goes on has the answer in front of it; what stands around the chat is counted already */
	return goes_on ? (n + 1) * cost->message : cost->chat + (n - 1) * cost->message;
}
