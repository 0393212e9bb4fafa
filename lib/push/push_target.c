#include "push/push_target.h"

#include "absent.h"
#include "base64.h"
#include "http/libcurl.h"
#include "key_file.h"
#include "loopback.h"
#include "safe_text.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_MAX 8192

const char *const push_kind_names[] = {"pushgateway", "remote-write", NULL};

/* A part of the URL as a new string, to be freed with curl_free; NULL: it has none. */
static char *part_of(const char *url, CURLUPart part)
{
	CURLU *parsed = libcurl_url();
	char *value = NULL;
	if (parsed && curl_url_set(parsed, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK)
		curl_url_get(parsed, part, &value, 0);
	curl_url_cleanup(parsed);
	return value;
}

char *push_url_host(const char *url, int64_t *port)
{
	CURLU *parsed = libcurl_url();
	char *host = NULL, *number = NULL, *own = NULL;
	*port = IPF_ABSENT;
	if (parsed && curl_url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK &&
	    curl_url_get(parsed, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
	    curl_url_get(parsed, CURLUPART_PORT, &number, CURLU_DEFAULT_PORT) == CURLUE_OK) {
		struct slice name = slice_of(host);
		own = slice_dup(*host == '[' ? (struct slice){host + 1, name.len - 2} : name);
		*port = strtol(number, NULL, 10);
	}
	curl_free(host);
	curl_free(number);
	curl_url_cleanup(parsed);
	return own;
}

static bool ends_in(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);
	while (len && text[len - 1] == '/')
		len--;
	return len >= end_len && strncmp(text + len - end_len, end, end_len) == 0;
}

/* 1 and the kind; 0: the path says nothing. */
static bool kind_of_path(const char *path, enum push_kind *kind)
{
	if (ends_in(path, "/write") || ends_in(path, "/push") || ends_in(path, "/receive"))
		*kind = PUSH_REMOTE_WRITE;
	else if (strspn(path, "/") == strlen(path) || strstr(path, "/metrics"))
		*kind = PUSH_PUSHGATEWAY;
	else
		return false;
	return true;
}

/* Common to the URLs of both options. */
static int check_url(const char *option, const char *url, struct ipf_error *err)
{
	char *scheme = part_of(url, CURLUPART_SCHEME), *user = part_of(url, CURLUPART_USER);
	int status = 0;
	/* a scheme is required: libcurl's parser itself takes "host/path" for none, too */
	if (!scheme || (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0))
		status = ipf_error_set(err, IPF_USAGE, "%s: expected an http or https URL, got \"%s\"", option,
		                       shown(url).text);
	else if (user || strchr(url, '@'))
		status = ipf_error_set(err, IPF_USAGE,
		                       "%s: give the user and password by %s-key-file or %s-key-env, not in the URL", option,
		                       option, option);
	curl_free(scheme);
	curl_free(user);
	return status;
}

static int check_push(const char *url, struct push_target *target, bool kind_given, struct ipf_error *err)
{
	char *query = part_of(url, CURLUPART_QUERY), *path = part_of(url, CURLUPART_PATH);
	int status = check_url("--push", url, err);
	if (status == 0 && !kind_given && !kind_of_path(path ? path : "", &target->kind))
		status = ipf_error_set(
			err, IPF_USAGE, "--push: say which kind of target it is: pushgateway=URL or remote-write=URL, got \"%s\"",
			shown(url).text);
	else if (status == 0 && target->kind == PUSH_PUSHGATEWAY && query)
		status = ipf_error_set(err, IPF_USAGE, "--push: the URL of a Pushgateway has no query");
	target->grouped = path && strstr(path, "/metrics/job");
	curl_free(query);
	curl_free(path);
	return status;
}

int push_target_parse_otlp(const char *url, struct push_target *target, struct ipf_error *err)
{
	*target = (struct push_target){.kind = PUSH_OTLP, .url = url};
	return check_url("--otlp", url, err);
}

int push_target_parse(const char *text, struct push_target *target, struct ipf_error *err)
{
	bool given = false;
	*target = (struct push_target){.url = text};
	for (int i = 0; push_kind_names[i]; i++) {
		size_t len = strlen(push_kind_names[i]);
		if (strncmp(text, push_kind_names[i], len) != 0 || text[len] != '=')
			continue;
		target->kind = (enum push_kind)i;
		target->url = text + len + 1;
		given = true;
	}
	return check_push(target->url, target, given, err);
}

/* A label of the grouping. A text that a path cannot carry goes as base64, as the Pushgateway defines it. */
static void put_grouping(const struct metric_label *label, struct buffer *out)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
	struct buffer encoded = {0};
	if (*label->value && strspn(label->value, plain) == strlen(label->value) && strcmp(label->value, ".") != 0 &&
	    strcmp(label->value, "..") != 0) {
		buffer_format(out, "/%s/%s", label->name, label->value);
		return;
	}
	base64_encode(slice_of(label->value), &encoded);
	for (size_t i = 0; i < encoded.len; i++)
		if (strchr("+/", encoded.data[i]))
			encoded.data[i] = encoded.data[i] == '+' ? '-' : '_';
	buffer_format(out, "/%s@base64/%s", label->name, encoded.len ? encoded.data : "=");
	out->failed |= encoded.failed;
	buffer_release(&encoded);
}

/* With the path the specification of OTLP/HTTP gives as the default. */
static void put_otlp_url(const char *url, struct buffer *out)
{
	CURLU *parsed = libcurl_url();
	char *path = NULL, *whole = NULL;
	if (parsed && curl_url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK &&
	    curl_url_get(parsed, CURLUPART_PATH, &path, 0) == CURLUE_OK &&
	    (strcmp(path, "/") != 0 || curl_url_set(parsed, CURLUPART_PATH, "/v1/traces", 0) == CURLUE_OK) &&
	    curl_url_get(parsed, CURLUPART_URL, &whole, 0) == CURLUE_OK)
		buffer_text(out, whole);
	else
		out->failed = true;
	curl_free(path);
	curl_free(whole);
	curl_url_cleanup(parsed);
}

void push_target_url(const struct push_target *target, const struct metric_label *labels, size_t count,
                     struct buffer *out)
{
	if (target->kind == PUSH_OTLP) {
		put_otlp_url(target->url, out);
		return;
	}
	buffer_text(out, target->url);
	if (target->kind != PUSH_PUSHGATEWAY || target->grouped)
		return;
	while (out->len && out->data[out->len - 1] == '/')
		out->data[--out->len] = '\0';
	if (!ends_in(target->url, "/metrics"))
		buffer_text(out, "/metrics");
	for (size_t i = 0; i < count; i++)
		put_grouping(&labels[i], out);
}

/* ---- credentials ---- */

static int read_file(const char *path, const char *option, char key[KEY_MAX], struct ipf_error *err)
{
	size_t len;
	if (key_file_read(path, key, KEY_MAX, &len, err) < 0)
		return -1;
	if (len == KEY_MAX - 1 || strlen(key) != len)
		return ipf_error_at(err, IPF_USAGE, path, 0, "%s-key-file: the file contains no key", option);
	return 0;
}

int push_credential(const struct push_key *from, const char *option, struct buffer *header, struct ipf_error *err)
{
	char key[KEY_MAX];
	const char *value = from->env ? getenv(from->env) : NULL;
	if (!from->env && !from->file)
		return 0;
	if (from->env && from->file)
		return ipf_error_set(err, IPF_USAGE, "%s-key-file cannot be combined with %s-key-env", option, option);
	/* the given name of a variable may be the key itself: the message does not repeat it */
	if (from->env && (!value || !*value || strlen(value) >= sizeof key))
		return ipf_error_set(err, IPF_USAGE, "%s-key-env: expected the name of a variable in the environment", option);
	if (from->file && read_file(from->file, option, key, err) < 0)
		return -1;
	if (from->env)
		strcpy(key, value);
	size_t begin = strspn(key, " \t\r\n"), len = strlen(key);
	while (len > begin && strchr(" \t\r\n", key[len - 1]))
		key[--len] = '\0';
	for (size_t i = begin; i < len; i++)
		if ((unsigned char)key[i] < ' ' || key[i] == 127)
			begin = len;
	if (begin >= len)
		return ipf_error_set(err, IPF_USAGE, "%s-key-%s: expected a key without control characters", option,
		                     from->file ? "file" : "env");
	bool basic = strchr(key + begin, ':');
	buffer_text(header, basic ? "Authorization: Basic " : "Authorization: Bearer ");
	if (basic)
		base64_encode((struct slice){key + begin, len - begin}, header);
	else
		buffer_text(header, key + begin);
	explicit_bzero(key, sizeof key);
	return header->failed ? ipf_error_memory(err) : 0;
}

static bool is_private(const struct push_target *target)
{
	char *scheme = part_of(target->url, CURLUPART_SCHEME), *host = part_of(target->url, CURLUPART_HOST);
	bool private = scheme && host && (strcmp(scheme, "https") == 0 || host_is_loopback(host));
	curl_free(scheme);
	curl_free(host);
	return private;
}

int push_target_check_private(const struct push_target *target, const char *option, const struct buffer *header,
                              struct ipf_error *err)
{
	return header->len && !is_private(target)
	           ? ipf_error_set(err, IPF_USAGE, "%s: a key is sent over https only, or to this machine, got \"%s\"",
	                           option, shown(target->url).text)
	           : 0;
}

void push_credential_forget(struct buffer *header)
{
	if (header->data)
		explicit_bzero(header->data, header->len);
	buffer_release(header);
}

int push_figures_parse(const struct push_figures *figures, struct push_target targets[PUSH_TARGETS],
                       struct buffer *header, struct ipf_error *err)
{
	size_t count = figures->targets.count;
	if (push_credential(&figures->key, "--push", header, err) < 0)
		return -1;
	for (size_t i = 0; i < count && i < PUSH_TARGETS; i++)
		if (push_target_parse(figures->targets.items[i], &targets[i], err) < 0 ||
		    push_target_check_private(&targets[i], "--push", header, err) < 0)
			return -1;
	if (header->len && !count)
		return ipf_error_set(err, IPF_USAGE, "--push-key-%s requires --push", figures->key.env ? "env" : "file");
	if (count > PUSH_TARGETS)
		return ipf_error_set(err, IPF_USAGE, "--push: at most %d targets, got %zu", PUSH_TARGETS, count);
	return 0;
}
