/* aiperf: conversations as AIPerf's multi_turn has them, and the bodies that it writes to inputs.json.
 *
 * Origin: github.com/ai-dynamo/aiperf, docs/tutorials/multi-turn.md. JSON Lines of multi_turn:
 *
 *     session_id  the name of the session (optional)
 *     turns       list of turns:
 *       text        what is said; also texts, a list
 *       role        user (default), system before the first turn, or assistant: the recorded answer
 *       delay       milliseconds before the turn; timestamp: when the first one arrives, in milliseconds
 *       image, images, audio, audios, video, videos   as in LLaVA's data (chat_fields.h)
 *
 * inputs.json is an object:
 *
 *     data        list of sessions: session_id, and payloads, a list of request bodies, each with all messages
 */
#include "absent.h"
#include "clock.h"
#include "sources/api_bodies.h"
#include "sources/chat_fields.h"
#include "sources/record_fields.h"
#include "sources/sniff.h"

static int add_media(struct draft *d, const struct jdoc *j, jdoc_id turn, struct ipf_error *err)
{
	static const struct {
		const char *member, *kind;
	} places[] = {{"image", "image"},  {"images", "image"}, {"video", "video"},
	              {"videos", "video"}, {"audio", "audio"},  {"audios", "audio"}};
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (chat_media(d, j, jdoc_get(j, turn, places[i].member), places[i].kind, places[i].member, err) < 0)
			return -1;
	return 0;
}

/* The text of a turn: `text`, or those of the list `texts`. */
static int read_text(struct draft *d, const struct jdoc *j, jdoc_id turn, struct slice *text, struct ipf_error *err)
{
	jdoc_id texts = jdoc_get(j, turn, "texts");
	int got = field_text(d, j, turn, "text", text, err);
	if (got != 0)
		return got < 0 ? -1 : 0;
	for (struct jdoc_each e = jdoc_each(j, texts); jdoc_step(&e);) {
		if (jdoc_type_of(j, e.value) != JDOC_TEXT)
			return jdoc_expected(j, e.value, "texts", "a list of strings", err);
		*text = draft_append(d, *text, "\n", draft_text(d, j, e.value));
	}
	return texts != JDOC_NONE ? 0 : ipf_error_set(err, IPF_INPUT, "text: missing (also as texts)");
}

/* `system` is what turns of the system said since the last request. */
static int add_turn(struct draft *d, const struct jdoc *j, jdoc_id turn, struct slice *system, struct ipf_error *err)
{
	struct slice text;
	jdoc_id role = jdoc_get(j, turn, "role");
	if (need_object(j, turn, "turns", err) < 0 || read_text(d, j, turn, &text, err) < 0)
		return -1;
	if (jdoc_text_is(j, role, "system")) {
		*system = draft_append(d, *system, "\n", text);
		return 0;
	}
	if (jdoc_text_is(j, role, "assistant")) {
		if (d->count > 0)
			d->requests[d->count - 1].answer = text;
		return 0;
	}
	if (!jdoc_is_null(j, role) && !jdoc_text_is(j, role, "user"))
		return jdoc_expected(j, role, "role", "user, assistant or system", err);
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	if (system->len > 0)
		draft_message(d, ROLE_SYSTEM, *system);
	*system = (struct slice){0};
	draft_message(d, ROLE_USER, text);
	r = &d->requests[d->count - 1];
	if (chat_parameters(d, j, turn, r, err) < 0 || add_media(d, j, turn, err) < 0)
		return -1;
	return d->count > 1 ? field_duration(j, turn, "delay", NS_PER_MS, &r->wait_ns, err) < 0 ? -1 : 0
	       : field_time(j, turn, "timestamp", NS_PER_MS, &r->at_ns, err) < 0 ? -1
	                                                                         : 0;
}

static int read_turns(const struct jdoc *j, jdoc_id session, jdoc_id turns, struct sink *sink, struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	struct slice system = {0};
	if (jdoc_type_of(j, turns) != JDOC_LIST)
		return jdoc_expected(j, turns, "turns", "a list", err);
	for (struct jdoc_each e = jdoc_each(j, turns); jdoc_step(&e) && !d->failed;)
		if (add_turn(d, j, e.value, &system, err) < 0)
			return -1;
	if (field_name(d, j, session, "session_id", &d->session, err) < 0)
		return -1;
	d->chain = true;
	if (d->count > 0)
		return sink->take(sink, d, err);
	sink->unusable(sink, "empty conversation");
	return 0;
}

static int read_payloads(const struct jdoc *j, jdoc_id session, struct sink *sink, struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	jdoc_id payloads;
	if (need_object(j, session, "data", err) < 0 || need_list(j, session, "payloads", &payloads, err) < 0 ||
	    field_name(d, j, session, "session_id", &d->session, err) < 0)
		return -1;
	for (struct jdoc_each e = jdoc_each(j, payloads); jdoc_step(&e) && !d->failed;) {
		int got = need_object(j, e.value, "payloads", err) < 0 ? -1 : api_request_body(d, j, e.value, err);
		if (got < 0)
			return -1;
		if (got == 0)
			return ipf_error_set(err, IPF_INPUT, "payloads: expected bodies with messages or a prompt");
	}
	if (d->count > 0)
		return sink->take(sink, d, err);
	sink->unusable(sink, "empty conversation");
	return 0;
}

static int read_record(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	const struct jdoc *j = record->json;
	int64_t part = 0;
	(void)state;
	if (need_object(j, JDOC_ROOT, "record", err) < 0)
		return -1;
	jdoc_id data = jdoc_get(j, JDOC_ROOT, "data"), turns = jdoc_get(j, JDOC_ROOT, "turns");
	if (turns != JDOC_NONE)
		return read_turns(j, JDOC_ROOT, turns, sink, err);
	if (jdoc_type_of(j, data) != JDOC_LIST)
		return read_payloads(j, JDOC_ROOT, sink, err);
	for (struct jdoc_each e = jdoc_each(j, data); jdoc_step(&e) && !sink->full;) {
		draft_begin(&sink->draft, record->number, part++);
		if (read_payloads(j, e.value, sink, err) < 0)
			return -1;
	}
	return 0;
}

static bool recognises(const struct sniff *sniff)
{
	const struct jdoc *j = sniff->json;
	if (!j)
		return false;
	jdoc_id turn = jdoc_at(j, jdoc_get(j, JDOC_ROOT, "turns"), 0),
			session = jdoc_at(j, jdoc_get(j, JDOC_ROOT, "data"), 0);
	return jdoc_get(j, turn, "text") != JDOC_NONE || jdoc_get(j, turn, "texts") != JDOC_NONE ||
	       jdoc_get(j, session, "payloads") != JDOC_NONE || sniff_members(sniff, "session_id payloads");
}

const struct source_format source_aiperf = {
	.name = "aiperf",
	.about = "AIPerf's conversations (multi_turn) and the bodies that it writes to inputs.json: sessions, waits",
	.kind = SOURCE_DATASET,
	.unit = UNIT_JSON,
	.ignored = "/turns/*/timestamp",
	.traits = HAS_SESSIONS,
	.read_record = read_record,
	.recognises = recognises,
};
