#include "config/chat_template.h"

#include "absent.h"
#include "json/jdoc.h"
#include "cli/options.h"
#include "cli/units.h"
#include "http/authorities.h"
#include "http/libcurl.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_SECONDS 20L
#define ANSWER_SECONDS  120L
#define ANSWER_MAX      ((size_t)16 << 20)

/* The content of the messages to measure with: a token or two in every vocabulary, and no template changes it. */
/* More tokens than this no template adds. */
#define ADDED_MAX (INT64_C(1) << 30)
#define WORD      "Hello"

/* The server to measure at, and its last answer. */
struct template_server {
	CURL *curl;
	struct curl_slist *headers;
	struct buffer base;  /* the URL without a path */
	struct buffer model; /* JSON text; empty: the server names none */
	struct buffer url, body, answer;
	struct jdoc doc;
	long status;
	char problem[CURL_ERROR_SIZE];
	const char *path; /* the path counting */
};

static size_t append_answer(char *bytes, size_t size, size_t count, void *data)
{
	struct buffer *to = data;
	if (to->len + size * count > ANSWER_MAX)
		return 0;
	buffer_append(to, bytes, size * count);
	return to->failed ? 0 : size * count;
}

/* Sends a request: GET if `body` is NULL, else POST. 1: the answer is JSON with status 200, in s->doc; 0: another
 * answer; -1: no answer. */
static int ask(struct template_server *s, const char *path, const char *body, struct ipf_error *err)
{
	buffer_clear(&s->url);
	buffer_clear(&s->answer);
	buffer_slice(&s->url, buffer_all(&s->base));
	buffer_text(&s->url, path);
	if (s->url.failed || (body && s->body.failed))
		return ipf_error_memory(err);
	s->problem[0] = '\0';
	curl_easy_setopt(s->curl, CURLOPT_URL, s->url.data);
	if (body) {
		curl_easy_setopt(s->curl, CURLOPT_POST, 1L);
		curl_easy_setopt(s->curl, CURLOPT_POSTFIELDS, body);
	} else {
		curl_easy_setopt(s->curl, CURLOPT_HTTPGET, 1L);
	}
	CURLcode code = curl_easy_perform(s->curl);
	if (s->answer.failed)
		return ipf_error_memory(err);
	if (code == CURLE_WRITE_ERROR)
		return ipf_error_set(err, IPF_INPUT, "--template-tokens: %s: the answer is longer than %zu MiB", s->url.data,
		                     ANSWER_MAX >> 20);
	if (code != CURLE_OK)
		return ipf_error_set(err, IPF_SYSTEM, "--template-tokens: %s: %s", s->url.data, libcurl_why(code, s->problem));
	curl_easy_getinfo(s->curl, CURLINFO_RESPONSE_CODE, &s->status);
	if (s->status != 200)
		return 0;
	struct ipf_error ignored = {0};
	return jdoc_parse(&s->doc, s->answer.data ? s->answer.data : "", s->answer.len, &ignored) == 0;
}

/* Begins the body: the model and a chat of so many messages, without the last brace. */
static void write_messages(struct template_server *s, int messages)
{
	buffer_clear(&s->body);
	buffer_text(&s->body, "{");
	if (s->model.len)
		buffer_format(&s->body, "\"model\":%s,", s->model.data);
	buffer_text(&s->body, "\"messages\":[");
	for (int i = 0; i < messages; i++)
		buffer_format(&s->body, "%s{\"role\":\"%s\",\"content\":\"" WORD "\"}", i ? "," : "",
		              i % 2 ? "assistant" : "user");
	buffer_text(&s->body, "]");
}

static int64_t number_at(const struct template_server *s, jdoc_id node)
{
	int64_t count;
	return jdoc_to_int(&s->doc, node, &count) && count > 0 && count <= ADDED_MAX ? count : IPF_ABSENT;
}

/* vLLM counts the tokens of a chat. */
static int count_by_tokenize(struct template_server *s, int messages, int64_t *count, struct ipf_error *err)
{
	write_messages(s, messages);
	buffer_text(&s->body, ",\"add_generation_prompt\":true}");
	int found = ask(s, "/tokenize", s->body.data, err);
	*count = found > 0 ? number_at(s, jdoc_get(&s->doc, JDOC_ROOT, "count")) : IPF_ABSENT;
	s->path = "/tokenize";
	return found;
}

/* llama.cpp applies the template, then counts the tokens of a text. */
static int count_by_apply_template(struct template_server *s, int messages, int64_t *count, struct ipf_error *err)
{
	*count = IPF_ABSENT;
	s->path = "/apply-template";
	write_messages(s, messages);
	buffer_text(&s->body, "}");
	int found = ask(s, "/apply-template", s->body.data, err);
	jdoc_id prompt = found > 0 ? jdoc_get(&s->doc, JDOC_ROOT, "prompt") : JDOC_NONE;
	if (found <= 0 || jdoc_type_of(&s->doc, prompt) != JDOC_TEXT)
		return found;
	buffer_clear(&s->body);
	buffer_text(&s->body, "{\"content\":");
	buffer_slice(&s->body, jdoc_raw(&s->doc, prompt));
	buffer_text(&s->body, ",\"add_special\":true,\"parse_special\":true}");
	found = ask(s, "/tokenize", s->body.data, err);
	jdoc_id tokens = found > 0 ? jdoc_get(&s->doc, JDOC_ROOT, "tokens") : JDOC_NONE;
	if (found > 0 && jdoc_type_of(&s->doc, tokens) == JDOC_LIST && jdoc_count(&s->doc, tokens) > 0)
		*count = (int64_t)jdoc_count(&s->doc, tokens);
	return found;
}

/* Any other server counts the prompt of a chat completion. */
static int count_by_usage(struct template_server *s, int messages, int64_t *count, struct ipf_error *err)
{
	write_messages(s, messages);
	buffer_text(&s->body, ",\"max_tokens\":1}");
	int found = ask(s, "/v1/chat/completions", s->body.data, err);
	*count = found > 0 ? number_at(s, jdoc_get(&s->doc, jdoc_get(&s->doc, JDOC_ROOT, "usage"), "prompt_tokens"))
	                   : IPF_ABSENT;
	s->path = "/v1/chat/completions";
	return found;
}

/* The first model the server lists, if it lists any. */
static int ask_model(struct template_server *s, struct ipf_error *err)
{
	int found = ask(s, "/v1/models", NULL, err);
	jdoc_id list = found > 0 ? jdoc_get(&s->doc, JDOC_ROOT, "data") : JDOC_NONE;
	if (found > 0 && jdoc_type_of(&s->doc, list) == JDOC_LIST && jdoc_count(&s->doc, list) > 0) {
		jdoc_id id = jdoc_get(&s->doc, jdoc_at(&s->doc, list, 0), "id");
		if (jdoc_type_of(&s->doc, id) == JDOC_TEXT)
			buffer_slice(&s->model, jdoc_raw(&s->doc, id));
	}
	return found;
}

static int ask_counts(struct template_server *s, int64_t *one, int64_t *three, struct ipf_error *err)
{
	static int (*const ways[])(struct template_server *, int, int64_t *,
	                           struct ipf_error *) = {count_by_tokenize, count_by_apply_template, count_by_usage};
	if (ask_model(s, err) < 0)
		return -1;
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		if (ways[i](s, 1, one, err) < 0)
			return -1;
		if (*one != IPF_ABSENT)
			return ways[i](s, 3, three, err) < 0 ? -1 : 0;
	}
	return ipf_error_set(err, IPF_INPUT,
	                     "--template-tokens: %s: expected a count from /tokenize, /apply-template or "
	                     "/v1/chat/completions, got status %ld",
	                     s->base.data, s->status);
}

static int set_tokens(struct chat_template *template, const struct template_server *s, int64_t one, int64_t three,
                      const struct token_counter *tokens, struct ipf_error *err)
{
	int64_t word = token_counter_count(tokens, WORD, strlen(WORD));
	if (one < word || (three != IPF_ABSENT && three < one + 2 * word))
		return ipf_error_set(err, IPF_INPUT,
		                     "--template-tokens: %s counts fewer tokens than the messages have; is -t the server's "
		                     "tokenizer?",
		                     s->url.data);
	template->chat = one - word;
	template->message = IPF_ABSENT;
	template->path = s->path;
	/* A question and an answer may add a different number: the mean, rounded up. */
	if (three != IPF_ABSENT)
		template->message = (three - one - 2 * word + 1) / 2;
	return 0;
}

int chat_template_measure(struct chat_template *template, const struct token_counter *tokens, struct ipf_error *err)
{
	if (!template->url)
		return 0;
	if (libcurl_start(err) < 0)
		return -1;
	struct template_server server = {.curl = curl_easy_init()};
	const char *key = getenv("OPENAI_API_KEY");
	struct buffer authorization = {0};
	size_t len = strlen(template->url);
	int64_t one = IPF_ABSENT, three = IPF_ABSENT;
	int status = -1;

	while (len && template->url[len - 1] == '/')
		len--;
	if (len > 3 && strncmp(template->url + len - 3, "/v1", 3) == 0)
		len -= 3;
	buffer_append(&server.base, template->url, len);
	server.headers = curl_slist_append(NULL, "Content-Type: application/json");
	if (key && key[0]) {
		buffer_format(&authorization, "Authorization: Bearer %s", key);
		struct curl_slist *more = authorization.failed ? NULL : curl_slist_append(server.headers, authorization.data);
		server.headers = more ? more : server.headers;
	}
	if (!server.curl || !server.headers || server.base.failed || authorization.failed) {
		ipf_error_memory(err);
	} else {
		curl_easy_setopt(server.curl, CURLOPT_HTTPHEADER, server.headers);
		curl_easy_setopt(server.curl, CURLOPT_NOSIGNAL, 1L);
		authorities_apply(server.curl, NULL);
		curl_easy_setopt(server.curl, CURLOPT_PROXY, ""); /* directly, like ipf-fire */
		curl_easy_setopt(server.curl, CURLOPT_PROTOCOLS_STR, "http,https");
		curl_easy_setopt(server.curl, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
		curl_easy_setopt(server.curl, CURLOPT_TIMEOUT, ANSWER_SECONDS);
		curl_easy_setopt(server.curl, CURLOPT_ERRORBUFFER, server.problem);
		curl_easy_setopt(server.curl, CURLOPT_WRITEFUNCTION, append_answer);
		curl_easy_setopt(server.curl, CURLOPT_WRITEDATA, &server.answer);
		status = ask_counts(&server, &one, &three, err);
		if (status == 0)
			status = set_tokens(template, &server, one, three, tokens, err);
	}
	curl_easy_cleanup(server.curl);
	curl_slist_free_all(server.headers);
	struct buffer *all[] = {&server.base, &server.model, &server.url, &server.body, &server.answer, &authorization};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		buffer_release(all[i]);
	jdoc_release(&server.doc);
	return status;
}

int chat_template_parse(const char *value, void *variable, struct ipf_error *err)
{
	struct chat_template *template = variable;
	char first[32];
	const char *comma = strchr(value, ',');
	struct ipf_error ignored = {0};

	*template = (struct chat_template){.given = true, .message = IPF_ABSENT};
	if (strncmp(value, "http://", 7) == 0 || strncmp(value, "https://", 8) == 0) {
		template->url = value;
		return 0;
	}
	if (snprintf(first, sizeof first, "%.*s", comma ? (int)(comma - value) : (int)strlen(value), value) <
	        (int)sizeof first &&
	    parse_count(first, &template->chat, &ignored) == 0 &&
	    (!comma || parse_count(comma + 1, &template->message, &ignored) == 0) && template->chat <= ADDED_MAX &&
	    template->message <= ADDED_MAX)
		return 0;
	return ipf_error_set(err, IPF_USAGE, "expected N, N,M or the URL of a server, got \"%s\"", value);
}

int64_t chat_template_tokens(const struct chat_template *template, size_t messages, bool continues)
{
	if (template->message == IPF_ABSENT || messages == 0)
		return template->chat;
	int64_t n = (int64_t)messages;
	/* A continuation adds the answer before it; the frame of the chat is counted already. */
	return continues ? (n + 1) * template->message : template->chat + (n - 1) * template->message;
}
