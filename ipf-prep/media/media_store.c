#include "media/media_store.h"

#include "absent.h"
#include "base64.h"
#include "media/synthetic_media.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BASE64_MARK ";base64,"

void media_store_init(struct media_store *s, const struct media_options *options, uint64_t seed)
{
	*s = (struct media_store){.options = options, .seed = seed, .root_fd = -1, .source_fd = -1};
}

static bool is_below(const char *path, const char *folder)
{
	char *whole = realpath(path, NULL), *root = realpath(folder, NULL);
	size_t len = root ? strlen(root) : 0;
	bool below = whole && root && strncmp(whole, root, len) == 0 && (whole[len] == '/' || root[len - 1] == '/');
	free(whole);
	free(root);
	return below;
}

/* A stream or a media file, as it is or compressed, or nothing yet. */
static bool is_ours(const char *path)
{
	static const char head[] = "{\"ipf\":\"", compressed[] = "\x28\xb5\x2f\xfd";
	char found[sizeof head];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, found, sizeof found);
	if (fd >= 0)
		close(fd);
	return len == 0 || (len >= (ssize_t)sizeof head - 1 && memcmp(found, head, sizeof head - 1) == 0) ||
	       (len >= (ssize_t)sizeof compressed - 1 && memcmp(found, compressed, sizeof compressed - 1) == 0);
}

int media_store_keep(const char *folder, const char *output, struct ipf_error *err)
{
	struct stat info;
	if (!folder || !output || stat(output, &info) < 0 || !S_ISREG(info.st_mode) || !is_below(output, folder) ||
	    is_ours(output))
		return 0;
	return ipf_error_set(
		err, IPF_USAGE,
		"the output \"%s\" exists below the folder of the data (--media-root) and is no trace or media "
		"file, so a record may name it; choose another file",
		output);
}

void media_store_begin(struct media_store *s)
{
	buffer_clear(&s->list);
}

struct slice media_store_list(const struct media_store *s)
{
	return s->list.len ? buffer_all(&s->list) : (struct slice){0};
}

int media_store_close(struct media_store *s, struct ipf_error *err)
{
	int result = media_writer_close(s->writer, err);
	if (s->root_fd >= 0)
		close(s->root_fd);
	if (s->source_fd >= 0)
		close(s->source_fd);
	for (size_t i = 0; i < MEDIUM_KINDS; i++)
		free(s->pools[i]);
	jdoc_release(&s->doc);
	buffer_release(&s->bytes);
	buffer_release(&s->list);
	buffer_release(&s->text);
	buffer_release(&s->encoded);
	*s = (struct media_store){.root_fd = -1, .source_fd = -1};
	return result;
}

/* ---- the list ---- */

static const char *const kind_names[] = {[MEDIUM_IMAGE] = "image", [MEDIUM_AUDIO] = "audio", [MEDIUM_VIDEO] = "video"};

/* `bytes` IPF_ABSENT: of a medium the server fetches, nothing is known. */
static void list_medium(struct media_store *s, enum medium_kind kind, const struct media_facts *facts, int64_t bytes)
{
	struct jout w = {.out = &s->list};
	if (s->list.len)
		s->list.data[s->list.len - 1] = ','; /* for its bracket */
	else
		buffer_byte(&s->list, '[');
	jout_begin_map(&w);
	jout_member_string(&w, "kind", slice_of(kind_names[kind]));
	jout_member_string(&w, "type", slice_of(facts->type));
	jout_member_int(&w, "bytes", bytes);
	jout_member_int(&w, "width", facts->width);
	jout_member_int(&w, "height", facts->height);
	jout_member_int(&w, "duration_ns", facts->duration_ns);
	jout_end_map(&w);
	buffer_byte(&s->list, ']');
}

/* ---- writing a medium ---- */

/* Writes a mark of the bytes, whose range is then in *range, or them in base64. */
static int put_bytes(struct media_store *s, struct slice bytes, struct media_range *range, struct buffer *out,
                     struct ipf_error *err)
{
	*range = (struct media_range){0};
	if (!s->path) {
		base64_encode(bytes, out);
		return 0;
	}
	if ((!s->writer && media_writer_open(&s->writer, s->path, err) < 0) ||
	    media_writer_add(s->writer, bytes, range, err) < 0)
		return -1;
	media_mark(*range, out);
	return 0;
}

/* Writes the JSON text of a medium: a data URL, or only its data. */
static int put_medium(struct media_store *s, enum medium_kind kind, struct slice bytes, const char *url_type,
                      struct buffer *out, struct ipf_error *err)
{
	struct media_facts facts = media_facts(bytes, (int64_t)bytes.len);
	struct media_range ignored;
	buffer_byte(out, '"');
	if (url_type)
		buffer_format(out, "data:%s" BASE64_MARK, url_type);
	if (put_bytes(s, bytes, &ignored, out, err) < 0)
		return -1;
	buffer_byte(out, '"');
	list_medium(s, kind, &facts, (int64_t)bytes.len);
	return out->failed || s->list.failed ? ipf_error_memory(err) : 0;
}

/* ---- media of the data ---- */

static int open_root(struct media_store *s, const char *name, struct ipf_error *err)
{
	if (s->root_fd < 0 && s->root)
		s->root_fd = open(s->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (s->root_fd >= 0)
		return 0;
	return ipf_error_set(err, IPF_INPUT, "the file %s of the data: --media-root names its folder", name);
}

/* Files outside the folder are not read: data of others must not make us send them. */
static int open_file(struct media_store *s, const char *name, struct ipf_error *err)
{
	struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
	                       .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
	if (open_root(s, name, err) < 0)
		return -1;
	int fd = (int)syscall(SYS_openat2, s->root_fd, name, &how, sizeof how);
	if (fd < 0 && errno == EXDEV)
		ipf_error_set(err, IPF_INPUT, "the file %s of the data is not in the folder %s (--media-root)", name, s->root);
	else if (fd < 0)
		ipf_error_set(err, IPF_INPUT, "the file %s of the data: cannot read: %s", name, strerror(errno));
	return fd;
}

/* Reads `size` bytes from `from` on. -1: errno; EIO at the file's end. */
static int read_range(int fd, int64_t from, size_t size, struct buffer *to)
{
	char *at = buffer_reserve(to, size);
	for (size_t done = 0; at && done < size;) {
		ssize_t n = pread(fd, at + done, size - done, (off_t)from + (off_t)done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			errno = n < 0 ? errno : EIO;
			return -1;
		}
		done += (size_t)n;
	}
	if (at) {
		at[size] = '\0';
		to->len += size;
	}
	return 0;
}

static int read_all(struct media_store *s, int fd, const char *name, struct ipf_error *err)
{
	struct stat info;
	if (fstat(fd, &info) < 0 || !S_ISREG(info.st_mode) || info.st_size == 0 ||
	    (uint64_t)info.st_size > MEDIUM_BYTES_MAX)
		return ipf_error_set(err, IPF_INPUT, "the file %s of the data: expected a file of 1 byte to %zu MiB", name,
		                     MEDIUM_BYTES_MAX >> 20);
	buffer_clear(&s->bytes);
	if (read_range(fd, 0, (size_t)info.st_size, &s->bytes) < 0)
		return ipf_error_set(err, IPF_INPUT, "the file %s of the data: cannot read: %s", name, strerror(errno));
	return s->bytes.failed ? ipf_error_memory(err) : 0;
}

static int read_file(struct media_store *s, const char *name, struct ipf_error *err)
{
	int fd = open_file(s, name, err);
	if (fd < 0)
		return -1;
	int result = read_all(s, fd, name, err);
	close(fd);
	return result;
}

/* The base64 of a data URL, or a bare one, into s->bytes. */
static int decode(struct media_store *s, struct slice text, const char *member, struct ipf_error *err)
{
	buffer_clear(&s->bytes);
	if (text.len / 4 * 3 > MEDIUM_BYTES_MAX)
		return ipf_error_set(err, IPF_INPUT, "%s: expected at most %zu MiB, got more", member, MEDIUM_BYTES_MAX >> 20);
	if (text.len == 0 || base64_decode(text, &s->bytes) < 0)
		return ipf_error_set(err, IPF_INPUT, "%s: expected base64, got \"%.*s\"", member,
		                     (int)(text.len < 32 ? text.len : 32), text.data);
	return s->bytes.failed ? ipf_error_memory(err) : 0;
}

static bool begins(struct slice s, const char *with)
{
	size_t len = strlen(with);
	return s.len >= len && memcmp(s.data, with, len) == 0;
}

/* A data URL's base64 text, and its type. */
static bool split_data_url(struct slice url, struct slice *data, struct slice *type)
{
	const char *mark = memmem(url.data, url.len, BASE64_MARK, sizeof BASE64_MARK - 1);
	if (!mark)
		return false;
	*type = (struct slice){url.data + 5, (size_t)(mark - url.data) - 5};
	size_t head = (size_t)(mark - url.data) + sizeof BASE64_MARK - 1;
	*data = (struct slice){url.data + head, url.len - head};
	return true;
}

/* Reads the medium of a mark in the media file of the trace read, into s->bytes. */
static int fetch_marked(struct media_store *s, struct media_range r, struct ipf_error *err)
{
	if (!s->source)
		return ipf_error_set(err, IPF_INPUT,
		                     "the trace has media, and its media file is not known: read one trace from a file");
	if (s->source_fd < 0 && (s->source_fd = media_file_open(s->source, &s->source_bytes, err)) < 0)
		return -1;
	buffer_clear(&s->encoded);
	if (r.begin > s->source_bytes || r.len > s->source_bytes - r.begin || (uint64_t)r.len > 2 * MEDIUM_BYTES_MAX ||
	    read_range(s->source_fd, r.begin, (size_t)r.len, &s->encoded) < 0)
		return ipf_error_at(err, IPF_INPUT, s->source, 0, "cannot read the bytes %lld to %lld, which the trace names",
		                    (long long)r.begin, (long long)(r.begin + r.len));
	return decode(s, buffer_all(&s->encoded), "media file", err);
}

/* Is the text, or the data of a URL, a mark? */
static bool find_mark(struct media_store *s, struct media_mark *mark)
{
	buffer_clear(&s->encoded);
	buffer_byte(&s->encoded, '"');
	buffer_slice(&s->encoded, buffer_all(&s->text));
	buffer_byte(&s->encoded, '"');
	return s->text.len < 200 && media_next_mark(buffer_all(&s->encoded), 0, mark);
}

/* Base64 without a URL around it: it begins like a medium we know. */
static bool is_base64(struct media_store *s, struct slice text)
{
	struct slice head = {text.data, text.len < 64 ? text.len : 64 / 4 * 4};
	buffer_clear(&s->bytes);
	return base64_decode(head, &s->bytes) == 0 && media_facts(buffer_all(&s->bytes), (int64_t)text.len).type;
}

/* Reads the medium s->text names, into s->bytes: a data URL, base64, or a file. *type is the data URL's, in s->text;
 * else absent. */
static int fetch(struct media_store *s, bool bare, struct slice *type, struct ipf_error *err)
{
	struct slice text = buffer_all(&s->text), data;
	struct media_mark mark;
	bool url = begins(text, "data:") && split_data_url(text, &data, type);
	if (!url)
		*type = (struct slice){0};
	if (find_mark(s, &mark))
		return fetch_marked(s, mark.range, err);
	if (begins(text, "data:")) {
		if (url)
			return decode(s, data, "data URL", err);
		return ipf_error_set(err, IPF_INPUT, "url: expected a data URL in base64, got \"%.*s\"",
		                     (int)(text.len < 40 ? text.len : 40), text.data);
	}
	if (is_base64(s, text) || (bare && !memchr(text.data, '.', text.len)))
		return decode(s, text, "data", err);
	return read_file(s, begins(text, "file://") ? text.data + 7 : text.data, err);
}

/* Does the server fetch the URL? */
static bool is_remote(struct slice url)
{
	const char *mark = memmem(url.data, url.len, "://", 3);
	return mark && mark - url.data < 16 && !begins(url, "file://") && !begins(url, "data:");
}

/* Makes the URL of a part a data URL, unless the server fetches it. */
static int put_url(struct media_store *s, enum medium_kind kind, struct slice raw, struct buffer *out,
                   struct ipf_error *err)
{
	static const struct media_facts unknown = {NULL, IPF_ABSENT, IPF_ABSENT, IPF_ABSENT};
	static const char *const defaults[] = {"image/png", "audio/wav", "video/mp4"};
	struct slice url = buffer_all(&s->text), type;
	char name[64];
	if (is_remote(url) || !url.len) {
		list_medium(s, kind, &unknown, IPF_ABSENT);
		buffer_slice(out, raw);
		return 0;
	}
	if (fetch(s, false, &type, err) < 0)
		return -1;
	const char *found = media_facts(buffer_all(&s->bytes), (int64_t)s->bytes.len).type;
	if (type.len && type.len < sizeof name && !memchr(type.data, '"', type.len) && !memchr(type.data, '\\', type.len)) {
		memcpy(name, type.data, type.len);
		name[type.len] = '\0';
		found = name;
	}
	return put_medium(s, kind, buffer_all(&s->bytes), found ? found : defaults[kind], out, err);
}

/* Where a part has its medium. */
struct medium_place {
	enum medium_kind kind;
	jdoc_id text;
	bool bare; /* base64 without a URL */
};

static bool find_medium(const struct jdoc *doc, jdoc_id part, struct medium_place *place)
{
	static const struct {
		const char *member;
		enum medium_kind kind;
	} urls[] = {{"image_url", MEDIUM_IMAGE}, {"audio_url", MEDIUM_AUDIO}, {"video_url", MEDIUM_VIDEO}};
	for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
		jdoc_id url = jdoc_get(doc, part, urls[i].member);
		if (jdoc_type_of(doc, url) == JDOC_MAP)
			url = jdoc_get(doc, url, "url");
		if (jdoc_type_of(doc, url) == JDOC_TEXT) {
			*place = (struct medium_place){.kind = urls[i].kind, .text = url};
			return true;
		}
	}
	jdoc_id data = jdoc_get(doc, jdoc_get(doc, part, "input_audio"), "data");
	*place = (struct medium_place){.kind = MEDIUM_AUDIO, .text = data, .bare = true};
	return jdoc_type_of(doc, data) == JDOC_TEXT;
}

static int put_place(struct media_store *s, const struct medium_place *place, struct buffer *out, struct ipf_error *err)
{
	buffer_clear(&s->text);
	jdoc_text(&s->doc, place->text, &s->text);
	if (s->text.failed)
		return ipf_error_memory(err);
	if (!place->bare)
		return put_url(s, place->kind, jdoc_raw(&s->doc, place->text), out, err);
	struct slice ignored;
	if (fetch(s, true, &ignored, err) < 0)
		return -1;
	return put_medium(s, place->kind, buffer_all(&s->bytes), NULL, out, err);
}

/* JSON without media. */
static void put_text(struct buffer *out, struct slice json)
{
	size_t from = out->len;
	buffer_slice(out, json);
	media_hide_marks(out, from);
}

/* Copies a part, with its medium replaced. */
static int put_part(struct media_store *s, jdoc_id part, struct buffer *out, struct ipf_error *err)
{
	struct medium_place place;
	struct slice all = jdoc_raw(&s->doc, part);
	if (!find_medium(&s->doc, part, &place)) {
		put_text(out, all);
		return 0;
	}
	struct slice medium = jdoc_raw(&s->doc, place.text);
	put_text(out, (struct slice){all.data, (size_t)(medium.data - all.data)});
	if (put_place(s, &place, out, err) < 0)
		return -1;
	const char *after = medium.data + medium.len;
	put_text(out, (struct slice){after, (size_t)(all.data + all.len - after)});
	return out->failed ? ipf_error_memory(err) : 0;
}

static int put_list(struct media_store *s, jdoc_id list, struct jout *w, struct ipf_error *err)
{
	for (struct jdoc_each e = jdoc_each(&s->doc, list); jdoc_step(&e);) {
		jout_value(w, (struct slice){"", 0}); /* the comma */
		if (put_part(s, e.value, w->out, err) < 0)
			return -1;
	}
	return 0;
}

int media_store_parts(struct media_store *s, struct slice parts, struct jout *w, struct ipf_error *err)
{
	struct buffer list = {0};
	buffer_byte(&list, '[');
	buffer_slice(&list, parts);
	buffer_byte(&list, ']');
	int result = list.failed                                         ? ipf_error_memory(err)
	             : jdoc_parse(&s->doc, list.data, list.len, err) < 0 ? -1
	                                                                 : put_list(s, JDOC_ROOT, w, err);
	buffer_release(&list);
	return result;
}

int media_store_message(struct media_store *s, struct slice message, struct jout *w, struct ipf_error *err)
{
	jout_value(w, (struct slice){"", 0}); /* the comma */
	if (!memmem(message.data, message.len, "_url\"", 5) && !memmem(message.data, message.len, "\"input_audio\"", 13)) {
		put_text(w->out, message);
		return 0;
	}
	if (jdoc_parse(&s->doc, message.data, message.len, err) < 0)
		return -1;
	jdoc_id content = jdoc_get(&s->doc, JDOC_ROOT, "content");
	if (jdoc_type_of(&s->doc, content) != JDOC_LIST) {
		put_text(w->out, message);
		return 0;
	}
	struct slice inner = jdoc_raw(&s->doc, content), all = jdoc_raw(&s->doc, JDOC_ROOT);
	put_text(w->out, (struct slice){all.data, (size_t)(inner.data - all.data)});
	struct jout parts = {.out = w->out};
	jout_begin_list(&parts);
	if (put_list(s, content, &parts, err) < 0)
		return -1;
	jout_end_list(&parts);
	const char *after = inner.data + inner.len;
	put_text(w->out, (struct slice){after, (size_t)(all.data + all.len - after)});
	return w->out->failed ? ipf_error_memory(err) : 0;
}

int media_store_messages(struct media_store *s, struct slice list, struct buffer *out, struct ipf_error *err)
{
	struct jdoc messages = {0};
	struct jout w = {.out = out};
	int result = jdoc_parse(&messages, list.data, list.len, err);
	buffer_clear(out);
	jout_begin_list(&w);
	for (struct jdoc_each e = jdoc_each(&messages, JDOC_ROOT); result == 0 && jdoc_step(&e);)
		result = media_store_message(s, jdoc_raw(&messages, e.value), &w, err);
	jout_end_list(&w);
	jdoc_release(&messages);
	return result == 0 && out->failed ? ipf_error_memory(err) : result;
}

/* ---- synthetic media ---- */

/* One of a pool in the media file. */
struct pooled_medium {
	struct media_range range; /* len 0: not made yet */
	struct media_facts facts;
	int64_t bytes;
};

static int64_t pool_size(const struct media_options *o, enum medium_kind kind)
{
	return kind == MEDIUM_IMAGE ? o->images.pool : kind == MEDIUM_AUDIO ? o->audio.pool : o->video.picture.pool;
}

/* Which medium a request gets: one of the pool, or its own. */
static uint64_t choose(const struct media_store *s, enum medium_kind kind, uint64_t number)
{
	struct rng pick;
	int64_t pool = pool_size(s->options, kind);
	if (!pool)
		return number;
	rng_init(&pick, s->seed, "pool of media", number);
	return rng_below(&pick, (uint64_t)pool);
}

/* Makes a medium, into s->bytes. */
static int make(struct media_store *s, enum medium_kind kind, uint64_t index, struct ipf_error *err)
{
	const struct media_options *o = s->options;
	struct rng rng;
	rng_init(&rng, s->seed, kind_names[kind], index);
	buffer_clear(&s->bytes);
	if (kind == MEDIUM_IMAGE) {
		synthetic_image(&rng, &o->images, &s->bytes);
	} else if (kind == MEDIUM_AUDIO) {
		int64_t ns = distribution_draw(&o->audio.length, &rng);
		synthetic_audio(&rng, ns < MEDIUM_LENGTH_MAX ? ns : MEDIUM_LENGTH_MAX, o->audio.rate, &s->bytes);
	} else {
		synthetic_video(&rng, &o->video, &s->bytes);
	}
	return s->bytes.failed ? ipf_error_memory(err) : 0;
}

/* Writes the data of a medium, in which nothing has to be escaped. One of a pool is made once. */
static int put_made(struct media_store *s, enum medium_kind kind, uint64_t number, struct buffer *out,
                    struct ipf_error *err)
{
	int64_t pool = s->path ? pool_size(s->options, kind) : 0;
	uint64_t index = choose(s, kind, number);
	if (pool && !s->pools[kind] && !(s->pools[kind] = calloc((size_t)pool, sizeof **s->pools)))
		return ipf_error_memory(err);
	struct pooled_medium own = {0}, *known = pool ? &s->pools[kind][index] : &own;
	if (known->range.len) {
		media_mark(known->range, out);
	} else {
		if (make(s, kind, index, err) < 0 || put_bytes(s, buffer_all(&s->bytes), &known->range, out, err) < 0)
			return -1;
		known->bytes = (int64_t)s->bytes.len;
		known->facts = media_facts(buffer_all(&s->bytes), known->bytes);
	}
	list_medium(s, kind, &known->facts, known->bytes);
	return 0;
}

static int put_synthetic(struct media_store *s, enum medium_kind kind, uint64_t number, struct jout *w,
                         struct ipf_error *err)
{
	static const struct {
		const char *begin, *end;
	} parts[] = {
		{"{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png" BASE64_MARK, "\"}}"},
		{"{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"", "\",\"format\":\"wav\"}}"},
		{"{\"type\":\"video_url\",\"video_url\":{\"url\":\"data:video/x-msvideo" BASE64_MARK, "\"}}"},
	};
	jout_value(w, slice_of(parts[kind].begin));
	if (put_made(s, kind, number, w->out, err) < 0)
		return -1;
	buffer_text(w->out, parts[kind].end);
	return w->out->failed || s->list.failed ? ipf_error_memory(err) : 0;
}

int media_store_make(struct media_store *s, uint64_t number, struct jout *w, struct ipf_error *err)
{
	const struct media_options *o = s->options;
	for (int64_t i = 0; i < o->images.count; i++)
		if (put_synthetic(s, MEDIUM_IMAGE, number * IMAGES_MAX + (uint64_t)i, w, err) < 0)
			return -1;
	if (o->audio.given && put_synthetic(s, MEDIUM_AUDIO, number, w, err) < 0)
		return -1;
	return o->video.length_ns ? put_synthetic(s, MEDIUM_VIDEO, number, w, err) : 0;
}
