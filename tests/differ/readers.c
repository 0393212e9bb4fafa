/* Our readers' results for texts, for tests that compare others:
 *
 *     readers json <texts      a line of JSON for each: what it says, with each number as it is read in every way
 *     readers http1 <texts     a line for each: the result, the status, the body in hexadecimal, why it is malformed
 *
 * Each text comes as a line "LENGTH PIECE HEAD" and its bytes: PIECE is the most read at once, HEAD is 1 for an answer
 * to HEAD (both for http1 only).
 */
#include "http/http1_reader.h"
#include "json/jdoc.h"
#include "json/jout.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- JSON ---- */

static void write_number(struct jout *w, const struct jdoc *doc, jdoc_id node)
{
	int64_t integer = 0;
	double real = 0;
	jout_begin_map(w);
	jout_key(w, "number");
	jout_string(w, jdoc_raw(doc, node));
	jout_key(w, "integer");
	if (jdoc_to_int(doc, node, &integer))
		jout_int(w, integer);
	else
		jout_null(w);
	jout_key(w, "real");
	if (jdoc_to_double(doc, node, &real))
		jout_double(w, real);
	else
		jout_bool(w, false);
	jout_end_map(w);
}

static void write_text(struct jout *w, const struct jdoc *doc, jdoc_id node)
{
	struct buffer text = {0};
	jdoc_text(doc, node, &text);
	jout_string(w, buffer_all(&text));
	buffer_release(&text);
}

static void write_value(struct jout *w, const struct jdoc *doc, jdoc_id node);

/* A map is {"members": [key, value, …]}, so nothing is lost of keys coming twice. */
static void write_members(struct jout *w, const struct jdoc *doc, jdoc_id node)
{
	bool map = jdoc_type_of(doc, node) == JDOC_MAP;
	if (map) {
		jout_begin_map(w);
		jout_key(w, "members");
	}
	jout_begin_list(w);
	for (struct jdoc_each e = jdoc_each(doc, node); jdoc_step(&e);) {
		if (map)
			write_text(w, doc, e.key);
		write_value(w, doc, e.value);
	}
	jout_end_list(w);
	if (map)
		jout_end_map(w);
}

static void write_value(struct jout *w, const struct jdoc *doc, jdoc_id node)
{
	switch (jdoc_type_of(doc, node)) {
	case JDOC_NULL:
		jout_null(w);
		break;
	case JDOC_BOOL:
		jout_bool(w, slice_is(jdoc_raw(doc, node), "true"));
		break;
	case JDOC_NUMBER:
		write_number(w, doc, node);
		break;
	case JDOC_TEXT:
		write_text(w, doc, node);
		break;
	case JDOC_LIST:
	case JDOC_MAP:
		write_members(w, doc, node);
	}
}

static void say_json(struct slice text, struct buffer *line)
{
	struct jdoc doc = {0};
	struct ipf_error err = {0};
	struct jout w = {.out = line};
	jout_begin_map(&w);
	if (jdoc_parse(&doc, text.data, text.len, &err) < 0) {
		jout_key(&w, "refused");
		jout_string0(&w, err.text);
	} else {
		jout_key(&w, "value");
		write_value(&w, &doc, JDOC_ROOT);
	}
	jout_end_map(&w);
	jdoc_release(&doc);
}

/* ---- HTTP/1.1 ---- */

struct heard {
	struct buffer body;
	int status;
};

static void on_status(void *data, int status)
{
	((struct heard *)data)->status = status;
}

static void on_header(void *data, struct slice name, struct slice value)
{
	(void)data;
	(void)name;
	(void)value;
}

static bool on_body(void *data, const char *bytes, size_t len)
{
	struct heard *h = data;
	for (size_t i = 0; i < len; i++)
		buffer_format(&h->body, "%02x", (unsigned)(unsigned char)bytes[i]);
	return true;
}

static void say_http1(struct slice text, size_t piece, bool head, struct buffer *line)
{
	static const char *const results[] = {
		[HTTP1_MORE] = "more",       [HTTP1_COMPLETE] = "complete",   [HTTP1_UPGRADED] = "upgraded",
		[HTTP1_CUT] = "cut",         [HTTP1_MALFORMED] = "malformed", [HTTP1_TOO_LARGE] = "too-large",
		[HTTP1_STOPPED] = "stopped", [HTTP1_NO_MEMORY] = "no-memory",
	};
	static const struct http1_sink sink = {.status = on_status, .header = on_header, .body = on_body};
	struct http1_reader reader = {0};
	struct heard heard = {0};
	enum http1_result result = HTTP1_MORE;
	http1_begin(&reader, head);
	for (size_t at = 0, used = 0; at < text.len && result == HTTP1_MORE; at += used)
		result = http1_read(&reader, text.data + at, piece < text.len - at ? piece : text.len - at, &used, &sink,
		                    &heard);
	if (result == HTTP1_MORE)
		result = http1_closed(&reader);
	buffer_format(line, "%s %d %s %s", results[result], heard.status, heard.body.len ? heard.body.data : "-",
	              result == HTTP1_MALFORMED ? reader.why : "");
	buffer_release(&heard.body);
	http1_release(&reader);
}

/* ---- all texts ---- */

int main(int argc, char **argv)
{
	struct buffer text = {0}, line = {0};
	size_t len, piece;
	int head;
	if (argc != 2 || (strcmp(argv[1], "json") != 0 && strcmp(argv[1], "http1") != 0)) {
		fputs("usage: readers json|http1 <texts\n", stderr);
		return 2;
	}
	while (scanf("%zu %zu %d", &len, &piece, &head) == 3 && getchar() == '\n') {
		buffer_clear(&text);
		buffer_clear(&line);
		if (!buffer_reserve(&text, len) || fread(text.data, 1, len, stdin) != len)
			return 1;
		text.len = len;
		if (*argv[1] == 'j')
			say_json(buffer_all(&text), &line);
		else
			say_http1(buffer_all(&text), piece ? piece : 1, head, &line);
		if (line.failed || puts(line.data) < 0)
			return 1;
	}
	buffer_release(&text);
	buffer_release(&line);
	return !feof(stdin);
}
