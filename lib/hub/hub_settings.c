#include "hub/hub_settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define HUB       "https://huggingface.co"
#define TOKEN_MAX 4096

static const char *variable(const char *name)
{
	const char *value = getenv(name);
	return value && *value ? value : NULL;
}

static bool is_true(const char *name)
{
	const char *value = getenv(name);
	return value && (strcmp(value, "1") == 0 || strcasecmp(value, "on") == 0 || strcasecmp(value, "yes") == 0 ||
	                 strcasecmp(value, "true") == 0);
}

/* `path`, or `folder`/`name`. "~" at its beginning is HOME. NULL: out of memory, or there is no HOME. */
static char *place(const char *path, const char *folder, const char *name)
{
	const char *home = variable("HOME");
	char *made = NULL;
	if (path && path[0] == '~' && (!path[1] || path[1] == '/')) {
		if (!home || asprintf(&made, "%s%s", home, path + 1) < 0)
			return NULL;
		return made;
	}
	if (path)
		return strdup(path);
	return folder && asprintf(&made, "%s/%s", folder, name) >= 0 ? made : NULL;
}

static char *find_home(void)
{
	char *cache = NULL;
	const char *home = variable("HF_HOME"), *user = variable("HOME");
	if (!home && !variable("XDG_CACHE_HOME") && user && asprintf(&cache, "%s/.cache", user) < 0)
		return NULL;
	char *made = place(home, cache ? cache : variable("XDG_CACHE_HOME"), "huggingface");
	free(cache);
	return made;
}

/* Removes white space around the token. -1: it contains characters no header may contain. */
static int check_token(struct hub_settings *s, struct ipf_error *err)
{
	size_t len = strlen(s->token), begin = strspn(s->token, " \t\r\n");
	while (len > begin && strchr(" \t\r\n", s->token[len - 1]))
		len--;
	len -= len > begin ? begin : len;
	memmove(s->token, s->token + begin, len);
	s->token[len] = '\0';
	for (const char *c = s->token; *c; c++)
		if (*c <= ' ' || *c > '~')
			return ipf_error_set(err, IPF_USAGE, "%s: expected a token of visible ASCII characters", s->token_from);
	if (!len) {
		free(s->token);
		s->token = NULL;
	}
	return 0;
}

/* The token the hub's own client has kept, if any. */
static void read_token_file(struct hub_settings *s, const char *home)
{
	char text[TOKEN_MAX];
	struct stat st;
	s->token_from = place(variable("HF_TOKEN_PATH"), home, "token");
	int fd = s->token_from ? open(s->token_from, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
	ssize_t got = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? read(fd, text, sizeof text - 1) : 0;
	if (fd >= 0)
		close(fd);
	if (got > 0 && !memchr(text, '\0', (size_t)got)) {
		text[got] = '\0';
		s->token = strdup(text);
	}
}

static int read_token(struct hub_settings *s, const char *home, struct ipf_error *err)
{
	const char *const names[] = {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!s->token && variable(names[i])) {
			s->token = strdup(variable(names[i]));
			s->token_from = strdup(names[i]);
			if (!s->token || !s->token_from)
				return ipf_error_memory(err);
		}
	if (!s->token && !is_true("HF_HUB_DISABLE_IMPLICIT_TOKEN"))
		read_token_file(s, home);
	return s->token ? check_token(s, err) : 0;
}

int hub_settings_read(struct hub_settings *s, struct ipf_error *err)
{
	const char *endpoint = variable("HF_ENDPOINT"), *cache = variable("HF_HUB_CACHE");
	char *home = find_home();
	size_t len = strlen(endpoint ? endpoint : HUB);

	*s = (struct hub_settings){.endpoint = strdup(endpoint ? endpoint : HUB)};
	s->cache = place(cache ? cache : variable("HUGGINGFACE_HUB_CACHE"), home, "hub");
	s->offline = is_true("HF_HUB_OFFLINE")         ? "HF_HUB_OFFLINE"
	             : is_true("TRANSFORMERS_OFFLINE") ? "TRANSFORMERS_OFFLINE"
	                                               : NULL;
	int status = s->endpoint ? 0 : ipf_error_memory(err);
	while (status == 0 && len && s->endpoint[len - 1] == '/')
		s->endpoint[--len] = '\0';
	const char *host = s->endpoint ? strstr(s->endpoint, "://") : NULL;
	if (status == 0 && (!host || !host[3] || strpbrk(s->endpoint, "?#@ ")))
		status = ipf_error_set(err, IPF_USAGE,
		                       "HF_ENDPOINT: expected an address such as " HUB ", without user, password and query");
	if (status == 0 && !s->cache)
		status = ipf_error_set(err, IPF_SYSTEM, "no place for the hub's cache: set HF_HOME or HOME");
	if (status == 0)
		status = read_token(s, home, err);
	free(home);
	if (status < 0)
		hub_settings_release(s);
	return status;
}

void hub_settings_release(struct hub_settings *s)
{
	free(s->endpoint);
	free(s->cache);
	if (s->token)
		explicit_bzero(s->token, strlen(s->token));
	free(s->token);
	free(s->token_from);
	*s = (struct hub_settings){0};
}
