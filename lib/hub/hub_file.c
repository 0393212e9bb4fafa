#include "hub/hub_file.h"

#include "absent.h"
#include "clock.h"
#include "cli/nearest.h"
#include "cli/units.h"
#include "hub/download.h"
#include "hub/hub_api.h"
#include "hub/hub_settings.h"
#include "stream/digest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TRIES      5
#define PAUSE_NS   (200 * NS_PER_MS)
#define LISTED_MAX 6

/* A file on its way here. */
struct fetch {
	const struct hub_settings *settings;
	const struct hub_repository *r;
	const char *file;
	const struct hub_voice *voice;
	struct buffer url;
	struct hub_headers hub;
	char etag[129];
	int64_t size; /* IPF_ABSENT: not known */
	long status;
	bool no_entry; /* the repository has no such file */
};

/* ---- errors ---- */

static void list_files(const struct fetch *f, struct buffer *text)
{
	struct ipf_error ignored = {0};
	json_t *files = hub_api_files(f->settings, f->r, &ignored), *entry;
	struct nearest near = {0};
	size_t i, count = json_array_size(files);
	json_array_foreach(files, i, entry) nearest_try(&near, f->file, strlen(f->file), json_string_value(entry));
	if (near.name)
		buffer_format(text, "; did you mean %s?", near.name);
	for (i = 0; i < count && i < LISTED_MAX && !near.name; i++)
		buffer_format(text, "%s%s", i ? ", " : "; it has ", json_string_value(json_array_get(files, i)));
	if (!near.name && count > LISTED_MAX)
		buffer_format(text, " and %zu more", count - LISTED_MAX);
	json_decref(files);
}

static void name_similar(const struct fetch *f, struct buffer *text)
{
	char near[196];
	struct buffer names = {0};
	hub_cache_nearest(f->settings->cache, f->r, near);
	if (near[0])
		buffer_format(&names, ", %s (in the cache)", near);
	hub_api_similar(f->settings, f->r, &names);
	if (names.len)
		buffer_format(text, "; similar: %s", names.data + 2);
	buffer_release(&names);
}

/* Why the server refuses. */
static void explain_refusal(struct fetch *f, struct buffer *text)
{
	const struct hub_settings *s = f->settings;
	const char *code = f->hub.error_code, *of = f->r->kind == HUB_DATASET ? "datasets/" : "";
	bool denied = f->status == 401 || f->status == 403;
	if (strcmp(code, "GatedRepo") == 0) {
		buffer_format(text, "access is restricted: accept the licence at %s/%s%s, then %s", s->endpoint, of, f->r->name,
		              s->token ? "use a token of this account" : "set HF_TOKEN");
	} else if (denied && s->token) {
		buffer_format(
			text,
			"the hub does not accept the token of %s for it: is the token valid, may it read this repository, "
			"and is the licence at %s/%s%s accepted?",
			s->token_from, s->endpoint, of, f->r->name);
	} else if (denied) {
		buffer_text(text,
		            "there is no such repository, or it is private or restricted: check the name, or set HF_TOKEN "
		            "(and accept its licence on the hub)");
		name_similar(f, text);
	} else if (strcmp(code, "RevisionNotFound") == 0) {
		buffer_format(text, "the repository has no revision %s", f->r->revision);
	} else if (strcmp(code, "RepoNotFound") == 0 || (!code[0] && !f->no_entry)) {
		buffer_format(text, "there is no such %s%s", f->r->kind == HUB_DATASET ? "dataset" : "model",
		              s->token ? "" : ", or it is private (then set HF_TOKEN)");
		name_similar(f, text);
	} else {
		f->no_entry = true;
		buffer_format(text, "the repository has no file %s", f->file);
		list_files(f, text);
	}
}

static int refused(struct fetch *f, const struct download *d, struct ipf_error *err)
{
	struct buffer text = {0};
	struct ipf_error cause = *err;
	const struct hub_settings *s = f->settings;
	ipf_error_clear(err);
	if (d->unreached) {
		buffer_format(&text, "not in the cache %s, and %s cannot be reached: %s", s->cache, s->endpoint, cause.text);
	} else if (d->status == 401 || d->status == 403 || d->status == 404) {
		buffer_format(&text, "%s: the server responded %ld: ", s->endpoint, d->status);
		if (!f->hub.error_code[0] && d->status == 404) { /* not from the hub itself: which files are there? */
			struct ipf_error ignored = {0};
			json_t *files = hub_api_files(s, f->r, &ignored);
			f->no_entry = files;
			json_decref(files);
		}
		explain_refusal(f, &text);
	} else {
		*err = cause;
	}
	if (text.failed)
		ipf_error_memory(err);
	else if (text.len)
		ipf_error_at(err, IPF_SYSTEM, f->r->typed, 0, "%s", text.data);
	buffer_release(&text);
	return -1;
}

/* ---- fetching ---- */

static void make_url(const struct hub_settings *s, const struct hub_repository *r, const char *file,
                     const char *revision, struct buffer *url)
{
	buffer_format(url, "%s/%s%s/resolve/", s->endpoint, r->kind == HUB_DATASET ? "datasets/" : "", r->name);
	for (const char *c = revision; *c; c++)
		*c == '/' ? buffer_text(url, "%2F") : hub_escape(url, (char[]){*c, '\0'});
	buffer_byte(url, '/');
	hub_escape(url, file);
}

void hub_file_url(const struct hub_repository *r, const char *file, const char *revision, struct buffer *url)
{
	struct hub_settings s;
	struct ipf_error ignored = {0};
	if (hub_settings_read(&s, &ignored) < 0) {
		url->failed = true;
		return;
	}
	make_url(&s, r, file, revision, url);
	hub_settings_release(&s);
}

/* Asks for the file's commit, ETag and size. */
static int ask(struct fetch *f, struct ipf_error *err)
{
	struct download d = {.url = f->url.data, .token = f->settings->token, .head = true, .fd = -1};
	int status = download_run(&d, err);
	f->hub = d.hub;
	f->status = d.status;
	if (status < 0)
		return refused(f, &d, err);
	const char *etag = d.hub.linked[0] ? d.hub.linked : d.hub.etag;
	f->size = d.hub.linked_size != IPF_ABSENT ? d.hub.linked_size : d.status == 200 ? d.size : IPF_ABSENT;
	if (!hub_is_file_name(d.hub.commit) || !etag[0])
		return ipf_error_at(err, IPF_SYSTEM, f->r->typed, 0, "%s is no hub: its answer has no %s",
		                    f->settings->endpoint, etag[0] ? "X-Repo-Commit" : "ETag");
	size_t length = strlen(etag);
	if (length < sizeof f->etag && hub_is_file_name(etag)) {
		memcpy(f->etag, etag, length + 1);
	} else { /* it names a file here */
		struct digest *digest = digest_new();
		char hex[65] = "";
		if (!digest)
			return ipf_error_memory(err);
		digest_update(digest, etag, strlen(etag));
		digest_hex(digest, hex);
		digest_free(digest);
		strcpy(f->etag, hex);
	}
	if (f->voice->limit && f->size != IPF_ABSENT && f->size > f->voice->limit)
		return ipf_error_at(err, IPF_SYSTEM, f->r->typed, 0, "%s has %lld bytes; at most %lld are fetched", f->file,
		                    (long long)f->size, (long long)f->voice->limit);
	return 0;
}

static void announce(const struct fetch *f)
{
	char line[1024], size[32] = "";
	if (!f->voice->say)
		return;
	if (f->size != IPF_ABSENT)
		format_count((double)f->size, size);
	snprintf(line, sizeof line, "fetching %.200s of %s (%s%s, commit %.12s) from %.200s into %.300s", f->file,
	         f->r->typed, *size ? size : "size unknown", *size ? "B" : "", f->hub.commit, f->settings->endpoint,
	         f->settings->cache);
	f->voice->say(line);
}

/* An ETag of 64 hexadecimal digits is the SHA-256 of a large file. */
static int check_content(const struct fetch *f, const struct hub_blob *blob, struct ipf_error *err)
{
	char bytes[65536], hex[65];
	ssize_t got = 0;
	off_t at = 0;
	if (strlen(f->hub.linked) != 64 || strspn(f->hub.linked, "0123456789abcdef") != 64)
		return 0;
	struct digest *digest = digest_new();
	if (!digest)
		return ipf_error_memory(err);
	for (; (got = pread(blob->fd, bytes, sizeof bytes, at)) > 0; at += got)
		digest_update(digest, bytes, (size_t)got);
	digest_hex(digest, hex);
	digest_free(digest);
	if (got < 0)
		return ipf_error_errno(err, errno, blob->part, "cannot read");
	if (strcmp(hex, f->hub.linked) == 0)
		return 0;
	unlink(blob->part);
	return ipf_error_at(err, IPF_SYSTEM, f->r->typed, 0,
	                    "%s: the server sent other bytes than it announced: SHA-256 %.16s…, not %.16s…", f->file, hex,
	                    f->hub.linked);
}

/* One attempt, which resumes the part present. */
static int attempt(struct fetch *f, struct hub_blob *blob, struct download *d, struct ipf_error *err)
{
	if (f->size != IPF_ABSENT && blob->had > f->size)
		blob->had = 0;
	if (ftruncate(blob->fd, blob->had) < 0 || lseek(blob->fd, blob->had, SEEK_SET) < 0)
		return ipf_error_errno(err, errno, blob->part, "cannot write the hub's cache");
	*d = (struct download){.url = f->url.data,
	                       .token = f->settings->token,
	                       .fd = blob->fd,
	                       .resume = true,
	                       .had = blob->had,
	                       .limit = f->size != IPF_ABSENT ? f->size : f->voice->limit,
	                       .progress = f->voice->progress};
	if (f->size != IPF_ABSENT && blob->had == f->size && f->size > 0)
		return 0;
	int status = download_run(d, err);
	blob->had = d->had;
	if (status == 0 && d->hub.commit[0] && strcmp(d->hub.commit, f->hub.commit) != 0)
		status = ipf_error_at(err, IPF_SYSTEM, f->r->typed, 0, "%s changed while it was fetched; try again",
		                      f->r->revision);
	if (status == 0 && f->size != IPF_ABSENT && d->had != f->size)
		status = ipf_error_at(err, IPF_SYSTEM, f->r->typed, 0, "%s: %lld bytes came, %lld were announced", f->file,
		                      (long long)d->had, (long long)f->size);
	return status;
}

static int download_blob(struct fetch *f, struct hub_blob *blob, struct ipf_error *err)
{
	struct download d;
	for (int try = 1;; try++) {
		int64_t before = blob->had;
		int status = attempt(f, blob, &d, err);
		if (status == 0)
			break;
		bool cut = err->kind == IPF_SYSTEM && !err->errno_value &&
		           ((d.had > before && (d.status == 200 || d.status == 206) && !d.whole) || d.status == 416);
		if (d.status == 416 || d.whole || d.over) /* our part is not of this file */
			blob->had = 0;
		if (blob->had == 0 && ftruncate(blob->fd, 0) < 0)
			return -1;
		if (!cut || try == TRIES)
			return d.status == 401 || d.status == 403 || d.status == 404 ? refused(f, &d, err) : -1;
		ipf_error_clear(err);
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS * try}, NULL);
	}
	return check_content(f, blob, err) < 0 ? -1 : hub_blob_finish(blob, err);
}

static int fetch(struct fetch *f, struct hub_place *place, struct ipf_error *err)
{
	struct hub_blob blob;
	make_url(f->settings, f->r, f->file, f->r->revision, &f->url);
	if (f->url.failed)
		return ipf_error_memory(err);
	if (ask(f, err) < 0)
		return -1;
	int status = hub_blob_open(&blob, f->settings->cache, f->r, f->etag, err);
	if (status == 0 && blob.fd >= 0) {
		announce(f);
		status = download_blob(f, &blob, err);
		if (f->voice->progress)
			progress_end(f->voice->progress);
	}
	if (status == 0)
		status = hub_blob_link(&blob, f->r, f->file, f->hub.commit, place, err);
	hub_blob_close(&blob);
	return status;
}

/* ---- the headers ---- */

static int is_offline(const struct hub_settings *s, const struct hub_repository *r, struct ipf_error *err)
{
	char near[196];
	hub_cache_nearest(s->cache, r, near);
	return ipf_error_at(err, IPF_SYSTEM, r->typed, 0,
	                    "not in the cache %s (revision %s), and %s forbids to fetch it%s%s", s->cache, r->revision,
	                    s->offline, near[0] ? "; the cache has " : "", near);
}

/* The first file of the repository wanted, by the server's list. */
static char *choose(const struct hub_settings *s, const struct hub_repository *r, bool (*wanted)(const char *name))
{
	struct ipf_error ignored = {0};
	json_t *files = hub_api_files(s, r, &ignored), *entry;
	char *name = NULL;
	size_t i;
	json_array_foreach(files, i, entry) if (!name && wanted(json_string_value(entry)))
		name = strdup(json_string_value(entry));
	json_decref(files);
	return name;
}

int hub_file_or(const struct hub_repository *r, const char *file, bool (*wanted)(const char *name),
                const struct hub_voice *voice, struct hub_place *place, struct ipf_error *err)
{
	struct hub_settings s;
	struct hub_place none = {0};
	*place = none;
	if (hub_settings_read(&s, err) < 0)
		return -1;
	int found = hub_cache_find(s.cache, r, file, NULL, place, err);
	if (found == 0 && wanted)
		found = hub_cache_find(s.cache, r, NULL, wanted, place, err);
	if (found == 0) {
		struct fetch f = {.settings = &s, .r = r, .file = file, .voice = voice};
		found = s.offline ? is_offline(&s, r, err) : fetch(&f, place, err);
		buffer_release(&f.url);
		char *other = found < 0 && f.no_entry && wanted ? choose(&s, r, wanted) : NULL;
		if (other) {
			struct fetch second = {.settings = &s, .r = r, .file = other, .voice = voice};
			ipf_error_clear(err);
			found = fetch(&second, place, err);
			buffer_release(&second.url);
			free(other);
		}
	}
	hub_settings_release(&s);
	return found < 0 ? -1 : 0;
}

int hub_file(const struct hub_repository *r, const char *file, const struct hub_voice *voice, struct hub_place *place,
             struct ipf_error *err)
{
	return hub_file_or(r, file, NULL, voice, place, err);
}

json_t *hub_files(const struct hub_repository *r, struct ipf_error *err)
{
	struct hub_settings s;
	if (hub_settings_read(&s, err) < 0)
		return NULL;
	json_t *files = NULL;
	if (s.offline)
		ipf_error_at(err, IPF_SYSTEM, r->typed, 0, "%s forbids to ask the hub for its files", s.offline);
	else
		files = hub_api_files(&s, r, err);
	hub_settings_release(&s);
	return files;
}
