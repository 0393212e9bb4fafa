#include "dialect.h"

#include "frame.h"
#include "http.h"

#include <string.h>

#define DIED "the engine died"

/* ---- paths ---- */

const struct dialect *dialect_at(size_t i)
{
	return dialects[i].name ? &dialects[i] : NULL;
}

/* The text of the path after "/NAME"; absent where it is another's. */
static struct slice within(const struct dialect *d, struct slice path)
{
	size_t len = strlen(d->name);
	if (path.len < len + 2 || path.data[0] != '/' || memcmp(path.data + 1, d->name, len) != 0 ||
	    path.data[len + 1] != '/')
		return (struct slice){0};
	return (struct slice){path.data + len + 1, path.len - len - 1};
}

static bool fits(struct slice path, const char *pattern, struct slice *model)
{
	const char *star = pattern ? strchr(pattern, '*') : NULL;
	*model = (struct slice){0};
	if (!pattern || !star)
		return pattern && slice_is(path, pattern);
	size_t before = (size_t)(star - pattern), after = strlen(star + 1);
	if (path.len <= before + after || memcmp(path.data, pattern, before) != 0 ||
	    memcmp(path.data + path.len - after, star + 1, after) != 0)
		return false;
	*model = (struct slice){path.data + before, path.len - before - after};
	return !memchr(model->data, '/', model->len);
}

const struct dialect *dialect_of_path(struct slice path, struct slice *model, bool *streamed)
{
	const struct dialect *d;
	for (size_t i = 0; (d = dialect_at(i)); i++) {
		struct slice rest = within(d, path);
		if (!rest.data)
			continue;
		*streamed = fits(rest, d->stream_path, model);
		if (*streamed || fits(rest, d->whole_path, model))
			return d;
	}
	return NULL;
}

bool dialect_is_ready_path(struct slice path)
{
	const struct dialect *d;
	for (size_t i = 0; (d = dialect_at(i)); i++)
		if (d->ready && within(d, path).data && slice_is(within(d, path), d->ready))
			return true;
	return false;
}

/* ---- streams ---- */

void dialect_send(struct answer *a, const char *name, bool content, bool last)
{
	if (a->ask->dialect->framing == DIALECT_LINES)
		buffer_byte(&a->json, '\n');
	if (a->ask->dialect->framing != DIALECT_SSE)
		frame_bytes(a, buffer_all(&a->json), content);
	else if (name)
		frame_named_event(a, name, buffer_all(&a->json), content);
	else
		frame_event(a, buffer_all(&a->json), content, last);
	buffer_clear(&a->json);
}

static enum answer_next look_for_trouble(struct answer *a)
{
	const struct mode *error = answer_now(a, MODE_ERROR_INBAND), *cut = answer_now(a, MODE_CUT),
					  *reset = answer_now(a, MODE_RESET);
	if (answer_now(a, MODE_MALFORMED)) {
		buffer_text(&a->json, "{\"text\":\"bro");
		dialect_send(a, NULL, false, false);
	}
	if (error) {
		buffer_text(&a->json, "{\"error\":\"" DIED "\",\"error_type\":\"generation\"}");
		dialect_send(a, error->form == FORM_EVENT ? "error" : NULL, false, true);
		frame_end(a);
		return ANSWER_WHOLE;
	}
	if (cut) {
		a->out->corked = false;
		if (cut->terminator)
			frame_end(a);
		return ANSWER_CUT;
	}
	if (reset && reset->after_given) {
		a->out->corked = false;
		outbox_hold(a->out, reset->pause_ns);
		return ANSWER_RESET;
	}
	return ANSWER_ON;
}

static void add_token(struct answer *a, int64_t k)
{
	const char *json = answer_text_at(a, k).json;
	buffer_text(&a->text, json);
	buffer_text(&a->so_far, json);
	if (a->ask->dialect->forced)
		buffer_format(&a->ids, "%s%u", a->ids.len ? "," : "", (unsigned)answer_id_at(a, k));
	a->pending++;
}

static enum answer_next stream_token(struct answer *a, int64_t k)
{
	const struct dialect *d = a->ask->dialect;
	const struct mode *multi = modes_find(a->modes, MODE_MULTI);
	bool last = k + 1 >= a->output_tokens;
	enum answer_next next = ANSWER_ON;
	buffer_clear(&a->json);
	if (k == 0) {
		if (d->begin)
			d->begin(a);
		next = look_for_trouble(a);
	}
	if (next != ANSWER_ON)
		return next;
	if (a->output_tokens > 0)
		add_token(a, k);
	if ((a->pending >= (multi ? multi->tokens : 1) && !a->more) || last) {
		a->sent += a->pending;
		if (a->output_tokens > 0)
			d->token(a, last);
		a->pending = 0;
		buffer_clear(&a->text);
		buffer_clear(&a->ids);
		next = look_for_trouble(a);
	}
	if (!last || next != ANSWER_ON)
		return next;
	a->out->corked = false;
	if (d->end)
		d->end(a);
	frame_end(a);
	return modes_find(a->modes, MODE_HTTP10) || modes_find(a->modes, MODE_LENGTH_SHORT) ? ANSWER_CUT : ANSWER_WHOLE;
}

/* ---- whole answers ---- */

static enum answer_next send_whole(struct answer *a)
{
	struct buffer headers = {0};
	if (modes_find(a->modes, MODE_ERROR_INBAND))
		buffer_text(&a->json, "{\"error\":\"" DIED "\",\"error_type\":\"generation\"}");
	else
		a->ask->dialect->whole(a, &headers);
	struct slice body = buffer_all(&a->json);
	if (modes_find(a->modes, MODE_MALFORMED))
		body.len--;
	answer_plain(a->out, 200, "application/json", headers.data, body, a->keep_alive);
	a->out->first_content = a->out->last_content = outbox_end(a->out);
	buffer_release(&headers);
	return ANSWER_WHOLE;
}

enum answer_next dialect_token(struct answer *a, int64_t k)
{
	if (!a->whole)
		return stream_token(a, k);
	if (a->output_tokens > 0)
		add_token(a, k);
	return k + 1 >= a->output_tokens ? send_whole(a) : ANSWER_ON;
}
