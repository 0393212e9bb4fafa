#include "api/api_client.h"

#include "clock.h"
#include "key_file.h"

#include <string.h>

enum { ANSWER_MOST = 32 << 20, TIMEOUT_S = 15, CONNECT_TIMEOUT_MS = 5000, TOKEN_MOST = 16384 };

int api_open(struct api_client *api, const struct api_settings *settings, struct ipf_error *err)
{
	const struct http_settings http = {.url = settings->server,
	                                   .timeout_ns = TIMEOUT_S * NS_PER_S,
	                                   .most_bytes = ANSWER_MOST,
	                                   .cacert = settings->cacert};
	*api = (struct api_client){.settings = settings};
	return http_handle_open(&api->http, &http, err);
}

void api_close(struct api_client *api)
{
	http_handle_close(&api->http);
	buffer_release(&api->received);
}

void api_answer_release(struct api_answer *answer)
{
	json_decref(answer->body);
	answer->body = NULL;
}

const char *api_answer_message(const struct api_answer *answer)
{
	const char *message = json_string_value(json_object_get(answer->body, "message"));
	return message ? message : "";
}

static bool add_header(struct curl_slist **list, const char *line)
{
	struct curl_slist *longer = curl_slist_append(*list, line);
	if (longer)
		*list = longer;
	return longer != NULL;
}

/* "Authorization: Bearer …", from the file as it is now. */
static int add_token(struct curl_slist **list, const char *file, struct ipf_error *err)
{
	static const char name[] = "Authorization: Bearer ";
	char line[sizeof name + TOKEN_MOST];
	size_t len;
	memcpy(line, name, sizeof name - 1);
	int result = key_file_read(file, line + sizeof name - 1, TOKEN_MOST, &len, err);
	if (result == 0) {
		line[sizeof name - 1 + strcspn(line + sizeof name - 1, "\r\n")] = '\0';
		if (!add_header(list, line))
			result = ipf_error_memory(err);
	}
	explicit_bzero(line, sizeof line);
	return result;
}

struct curl_slist *api_headers(const struct api_settings *settings, const char *content_type, struct ipf_error *err)
{
	struct curl_slist *list = NULL;
	char type[80];
	snprintf(type, sizeof type, "Content-Type: %s", content_type);
	if (!add_header(&list, "Accept: application/json") || !add_header(&list, type) || !add_header(&list, "Expect:"))
		ipf_error_memory(err);
	else if (!settings->token_file || add_token(&list, settings->token_file, err) == 0)
		return list;
	curl_slist_free_all(list);
	return NULL;
}

static size_t take(char *data, size_t size, size_t count, void *context)
{
	struct api_client *api = context;
	(void)size;
	if (!http_handle_takes(&api->http, count))
		return 0;
	buffer_append(&api->received, data, count);
	return api->received.failed ? 0 : count;
}

static bool prepare(struct api_client *api, const char *method, const char *url, struct curl_slist *headers,
                    const char *body)
{
	CURL *c = api->http.curl;
	bool good = true;
#define SET(option, value) good &= curl_easy_setopt(c, option, value) == CURLE_OK
	SET(CURLOPT_URL, url);
	SET(CURLOPT_HTTPHEADER, headers);
	SET(CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
	SET(CURLOPT_WRITEFUNCTION, take);
	SET(CURLOPT_WRITEDATA, (void *)api);
	if (body) {
		SET(CURLOPT_POSTFIELDSIZE, (long)strlen(body));
		SET(CURLOPT_POSTFIELDS, body);
	} else {
		SET(CURLOPT_HTTPGET, 1L);
	}
	SET(CURLOPT_CUSTOMREQUEST, method);
#undef SET
	return good;
}

static int perform(struct api_client *api, struct api_answer *answer, struct ipf_error *err)
{
	http_handle_begin(&api->http);
	buffer_clear(&api->received);
	CURLcode result = curl_easy_perform(api->http.curl);
	answer->status = http_handle_status(&api->http);
	if (result != CURLE_OK) {
		struct ipf_error why = {0};
		answer->status = 0;
		http_handle_judge(&api->http, result, &why);
		return api->received.failed ? ipf_error_memory(err) : ipf_error_set(err, IPF_SYSTEM, "%s", why.text);
	}
	answer->body = json_loadb(api->received.data, api->received.len, 0, NULL);
	if (answer->status != 429 && answer->status < 500)
		return 0;
	ipf_error_set(err, IPF_SYSTEM, "HTTP status %ld %s", answer->status, api_answer_message(answer));
	api_answer_release(answer);
	return -1;
}

int api_call(struct api_client *api, const char *method, const char *path, const json_t *body,
             struct api_answer *answer, struct ipf_error *err)
{
	struct buffer url = {0};
	char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
	struct curl_slist *headers = api_headers(
		api->settings, strcmp(method, "PATCH") == 0 ? "application/merge-patch+json" : "application/json", err);
	int result = -1;

	*answer = (struct api_answer){0};
	buffer_format(&url, "%s%s", api->settings->server, path);
	if (url.failed || (body && !text))
		ipf_error_memory(err);
	else if (headers && !prepare(api, method, url.data, headers, text))
		ipf_error_memory(err);
	else if (headers)
		result = perform(api, answer, err);
	curl_easy_setopt(api->http.curl, CURLOPT_HTTPHEADER, NULL);
	curl_slist_free_all(headers);
	buffer_release(&url);
	free(text);
	return result;
}
