#include "endpoint/model_list.h"

#include "http/libcurl.h"
#include "safe_text.h"
#include "version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MS  5000L
#define ANSWER_MAX (1 << 20)
#define LIST_MOST  8   /* models the message names */
#define NAME_MOST  512 /* bytes of a model's name */
#define SHOWN_MOST 81  /* characters of them in the message */

/* The models of all targets, without repetitions next to each other. */
struct found {
	char *only; /* the first one */
	struct buffer list;
	size_t count, targets; /* models; targets with lists */
	bool no_memory;
};

static bool add_name(const struct jdoc *doc, jdoc_id node, void *data)
{
	struct found *f = data;
	struct buffer name = {0};
	if (jdoc_type_of(doc, node) != JDOC_TEXT)
		return true;
	jdoc_text(doc, node, &name);
	f->no_memory |= name.failed;
	bool usable = name.len && name.len <= NAME_MOST && safe_text_is_safe((struct slice){name.data, name.len});
	if (usable && f->only && !strcmp(f->only, name.data)) {
		buffer_release(&name);
		return true;
	}
	f->count++;
	if (f->count <= LIST_MOST) {
		char short_name[SHOWN_MOST];
		safe_text(short_name, sizeof short_name, (struct slice){name.data, name.len});
		buffer_format(&f->list, "%s%s", f->count > 1 ? ", " : "", *short_name ? short_name : "\"\"");
	}
	if (usable && !f->only)
		f->no_memory |= !(f->only = strdup(name.data));
	buffer_release(&name);
	return !f->no_memory;
}

static size_t keep(char *data, size_t size, size_t count, void *user)
{
	struct buffer *body = user;
	if (body->len + size * count > ANSWER_MAX)
		return 0;
	buffer_append(body, data, size * count);
	return body->failed ? 0 : size * count;
}

static CURL *open_handle(const struct endpoint *e, const struct model_list_options *o, struct buffer *body)
{
	CURL *easy = curl_easy_init();
	if (!easy)
		return NULL;
	network_path_apply(o->network_path, easy, o->http);
	curl_easy_setopt(easy, CURLOPT_RESOLVE, o->network_path->resolve);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, e->headers);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "ipf-fire/" IPF_VERSION);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, ANSWER_MS);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, body);
	return easy;
}

/* Adds the models of a response to `found`. */
static void read_answer(const struct api *api, const struct buffer *body, struct found *found, char *why)
{
	struct jdoc doc = {0};
	struct ipf_error wrong = {0};
	size_t before = found->count;
	bool had = found->only;
	if (!body->data || jdoc_parse(&doc, body->data, body->len, &wrong) < 0) {
		snprintf(why, MODEL_LIST_WHY, "%s: the response is not JSON", api_models_path(api));
	} else {
		api_pointer_each(api_model_names(api), &doc, JDOC_ROOT, add_name, found);
		/* an empty list is one, too; any other document is not */
		bool list = found->count > before || had || memmem(body->data, body->len, "[]", 2);
		found->targets += list;
		if (!list)
			snprintf(why, MODEL_LIST_WHY, "%s: the response names no models", api_models_path(api));
	}
	jdoc_release(&doc);
}

static int ask(const struct endpoint *e, const struct model_list_options *o, size_t target, struct found *found,
               char *why, struct ipf_error *err)
{
	struct buffer body = {0};
	const char *path = api_models_path(o->api);
	char *url = endpoint_url_with_path(o->api, o->endpoint_options, target, path, err);
	CURL *easy = url ? open_handle(e, o, &body) : NULL;
	long status = 0;
	if (url && !easy)
		ipf_error_memory(err);
	if (easy) {
		curl_easy_setopt(easy, CURLOPT_URL, url);
		network_path_set_version(easy, o->http, url);
		CURLcode code = curl_easy_perform(easy);
		curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
		if (code == CURLE_WRITE_ERROR && !body.failed)
			snprintf(why, MODEL_LIST_WHY, "%s: the response is longer than 1 MiB", path);
		else if (code)
			snprintf(why, MODEL_LIST_WHY, "%s: %s", path, libcurl_why(code, NULL));
		else if (status != 200)
			snprintf(why, MODEL_LIST_WHY, "%s: status %ld", path, status);
		else
			read_answer(o->api, &body, found, why);
	}
	curl_easy_cleanup(easy);
	buffer_release(&body);
	free(url);
	return err->kind || found->no_memory ? ipf_error_memory(err) : 0;
}

int model_list_only(const struct endpoint *e, const struct model_list_options *options, char **model,
                    char why[MODEL_LIST_WHY], struct ipf_error *err)
{
	struct found found = {0};
	int result = 0;
	*model = NULL;
	for (size_t i = 0; result == 0 && i < e->count; i++)
		result = ask(e, options, i, &found, why, err);
	if (result == 0 && found.list.failed)
		result = ipf_error_memory(err);
	if (result == 0 && found.targets && !found.count)
		result = ipf_error_set(err, IPF_USAGE, "--model is required: %s lists no model", api_models_path(options->api));
	else if (result == 0 && found.count == 1 && found.only)
		result = 1;
	else if (result == 0 && found.count == 1)
		result = ipf_error_set(err, IPF_USAGE, "--model is required: the name of the server's model is not usable: %s",
		                       found.list.data);
	else if (result == 0 && found.count)
		result = ipf_error_set(err, IPF_USAGE, "--model is required, one of the server's %zu models: %s%s", found.count,
		                       found.list.data, found.count > LIST_MOST ? ", …" : "");
	if (result == 1) {
		*model = found.only;
		found.only = NULL;
	}
	free(found.only);
	buffer_release(&found.list);
	return result;
}
