#include "api/form.h"

#include "base64.h"
#include "stream/media_file.h"

#include <string.h>

/* One form. */
struct form {
	const struct jdoc *doc;
	struct buffer *body;
	struct buffer text; /* scratch */
	struct ipf_error *err;
};

/* A name in quotes, escaped as browsers do it. */
static void write_name(struct buffer *body, struct slice name)
{
	for (size_t i = 0; i < name.len; i++) {
		const char c = name.data[i];
		if (c == '"' || c == '\r' || c == '\n')
			buffer_format(body, "%%%02X", (unsigned)c);
		else
			buffer_byte(body, c);
	}
}

static struct slice text_of(struct form *f, jdoc_id node)
{
	buffer_clear(&f->text);
	jdoc_text(f->doc, node, &f->text);
	return f->text.len ? buffer_all(&f->text) : (struct slice){"", 0};
}

static void begin_part(struct form *f, jdoc_id key)
{
	buffer_text(f->body, "--" FORM_BOUNDARY "\r\nContent-Disposition: form-data; name=\"");
	write_name(f->body, text_of(f, key));
	buffer_byte(f->body, '"');
}

static int write_value(struct form *f, jdoc_id key, jdoc_id value)
{
	begin_part(f, key);
	buffer_text(f->body, "\r\n\r\n");
	struct slice text = jdoc_type_of(f->doc, value) == JDOC_TEXT ? text_of(f, value) : jdoc_raw(f->doc, value);
	if (memmem(text.data, text.len, "--" FORM_BOUNDARY, sizeof "--" FORM_BOUNDARY - 1))
		return ipf_error_set(f->err, IPF_INPUT, "a field of the form contains its boundary, --" FORM_BOUNDARY);
	buffer_slice(f->body, text);
	buffer_text(f->body, "\r\n");
	return 0;
}

/* ---- files ---- */

/* The ending of files of a type, by which some servers recognise them. */
static struct slice ending_of(struct slice type)
{
	static const struct {
		const char *type, *ending;
	} endings[] = {{"audio/mpeg", "mp3"}, {"audio/x-wav", "wav"},   {"audio/wave", "wav"},
	               {"audio/mp4", "m4a"},  {"audio/x-flac", "flac"}, {"audio/x-m4a", "m4a"}};
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (slice_is(type, endings[i].type))
			return slice_of(endings[i].ending);
	const char *slash = memchr(type.data, '/', type.len);
	return (struct slice){slash + 1, type.len - (size_t)(slash + 1 - type.data)};
}

static bool is_media_type(struct slice type)
{
	size_t slashes = 0;
	for (size_t i = 0; i < type.len; i++) {
		const char c = type.data[i];
		slashes += c == '/';
		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && !strchr("/.+-_", c))
			return false;
	}
	return slashes == 1 && *type.data != '/' && type.data[type.len - 1] != '/';
}

/* Parameters of the type, such as codecs, are left out. */
static int write_type(struct form *f, jdoc_id media_type)
{
	struct slice type = text_of(f, media_type);
	const char *end = memchr(type.data, ';', type.len);
	if (end)
		type.len = (size_t)(end - type.data);
	if (!type.len || memchr(type.data, '\0', type.len) || !is_media_type(type))
		return ipf_error_set(f->err, IPF_INPUT, "expected a media type such as audio/wav, got \"%.*s\"", (int)type.len,
		                     type.data);
	struct slice kind = {type.data, (size_t)((const char *)memchr(type.data, '/', type.len) - type.data)};
	buffer_text(f->body, "; filename=\"");
	buffer_slice(f->body, kind);
	buffer_byte(f->body, '.');
	buffer_slice(f->body, ending_of(type));
	buffer_text(f->body, "\"\r\nContent-Type: ");
	buffer_slice(f->body, type);
	return 0;
}

/* Is the text of the data, in its quotes, the mark of a medium and nothing else? */
static bool is_mark(struct slice quoted)
{
	struct media_mark mark;
	return media_next_mark(quoted, 0, &mark) && mark.begin == 1 && mark.end + 1 == quoted.len;
}

static int write_file(struct form *f, jdoc_id key, jdoc_id media_type, jdoc_id data)
{
	begin_part(f, key);
	if (write_type(f, media_type) < 0)
		return -1;
	buffer_text(f->body, "\r\n\r\n");
	struct slice text = text_of(f, data);
	if (is_mark(jdoc_raw(f->doc, data)))
		buffer_slice(f->body, text);
	else if (base64_decode(text, f->body) < 0)
		return ipf_error_set(f->err, IPF_INPUT, "the data of a file are not base64");
	buffer_text(f->body, "\r\n");
	return 0;
}

static int write_field(struct form *f, jdoc_id key, jdoc_id value)
{
	const struct jdoc *doc = f->doc;
	if (jdoc_type_of(doc, value) == JDOC_MAP) {
		jdoc_id type = jdoc_get(doc, value, "media_type"), data = jdoc_get(doc, value, "data");
		if (jdoc_type_of(doc, type) == JDOC_TEXT && jdoc_type_of(doc, data) == JDOC_TEXT)
			return write_file(f, key, type, data);
	}
	if (jdoc_type_of(doc, value) != JDOC_LIST)
		return write_value(f, key, value);
	for (struct jdoc_each e = jdoc_each(doc, value); jdoc_step(&e);)
		if (write_value(f, key, e.value) < 0)
			return -1;
	return 0;
}

int form_write(struct jdoc *doc, struct slice json, struct buffer *body, struct ipf_error *err)
{
	struct form f = {.doc = doc, .body = body, .err = err};
	int result = jdoc_parse(doc, json.data, json.len, err);
	struct jdoc_each e = jdoc_each(doc, result == 0 ? JDOC_ROOT : JDOC_NONE);
	while (result == 0 && jdoc_step(&e))
		result = write_field(&f, e.key, e.value);
	buffer_text(body, "--" FORM_BOUNDARY "--\r\n");
	body->failed |= f.text.failed;
	buffer_release(&f.text);
	return result == 0 && body->failed ? ipf_error_memory(err) : result;
}
