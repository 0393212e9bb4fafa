#include "api/end_mark.h"

struct search {
	const struct api_response *format;
	const struct protobuf_schema *schema;
	bool conditional; /* the pointer says which value it looks for */
	jdoc_id sought;   /* the node compared */
	jdoc_id found;
	const struct api_finish_word *word;
};

static const struct api_finish_word *listed(const struct api_response *r, const struct jdoc *doc, jdoc_id node)
{
	bool text = jdoc_type_of(doc, node) == JDOC_TEXT;
	for (size_t i = 0; i < r->finish_words_count; i++) {
		const char *server = r->finish_words[i].server;
		if (text ? jdoc_text_is(doc, node, server) : slice_is(jdoc_raw(doc, node), server))
			return &r->finish_words[i];
	}
	return NULL;
}

static bool is_zero(const struct jdoc *doc, jdoc_id node)
{
	double value;
	return jdoc_type_of(doc, node) == JDOC_NUMBER && jdoc_to_double(doc, node, &value) && value == 0;
}

static bool is_empty_text(const struct jdoc *doc, jdoc_id node)
{
	return jdoc_type_of(doc, node) == JDOC_TEXT && jdoc_text_empty(doc, node);
}

/* Enums become words: the word has the meaning of the number. */
static bool is_default_word(const struct protobuf_schema *schema, const struct jdoc *doc, jdoc_id node)
{
	bool zero = false;
	if (!schema || jdoc_type_of(doc, node) != JDOC_TEXT)
		return false;
	for (size_t i = 0; i < schema->enums_count; i++)
		for (size_t k = 0; k < schema->enums[i].count; k++) {
			const struct protobuf_word *word = &schema->enums[i].words[k];
			if (!jdoc_text_is(doc, node, word->name))
				continue;
			if (word->number != 0)
				return false;
			zero = true;
		}
	return zero;
}

static bool keep_finish(const struct jdoc *doc, jdoc_id node, void *data)
{
	struct search *s = data;
	const struct api_finish_word *word = listed(s->format, doc, node);
	bool reason = word ? word->common != NULL : !jdoc_text_empty(doc, node) && !is_default_word(s->schema, doc, node);
	if (jdoc_is_null(doc, node) || !reason)
		return true;
	s->found = node;
	s->word = word;
	return false;
}

jdoc_id end_mark_finish(const struct api_response *format, const struct protobuf_schema *schema, const struct jdoc *doc,
                        const struct api_finish_word **word)
{
	struct search s = {.format = format, .schema = schema, .found = JDOC_NONE};
	for (size_t i = 0; i < format->finish.count && s.found == JDOC_NONE; i++)
		api_pointer_each(format->finish.list[i], doc, JDOC_ROOT, keep_finish, &s);
	*word = s.word;
	return s.found;
}

static bool compare_node(const struct jdoc *doc, jdoc_id node, void *data)
{
	struct search *s = data;
	(void)doc;
	s->found = node == s->sought ? node : s->found;
	return s->found == JDOC_NONE;
}

static bool is_finish_node(const struct api_response *format, const struct jdoc *doc, jdoc_id node)
{
	struct search s = {.sought = node, .found = JDOC_NONE};
	for (size_t i = 0; i < format->finish.count && s.found == JDOC_NONE; i++)
		api_pointer_each(format->finish.list[i], doc, JDOC_ROOT, compare_node, &s);
	return s.found != JDOC_NONE;
}

/* finish_words may list numbers, true and false, which mean something else where no finish reason is. */
static const struct api_finish_word *listed_end(const struct api_response *format, const struct jdoc *doc, jdoc_id node)
{
	const struct api_finish_word *word = listed(format, doc, node);
	bool text = !jdoc_text_empty(doc, node);
	return word && (text || !format->finish.count || is_finish_node(format, doc, node)) ? word : NULL;
}

static bool keep_end(const struct jdoc *doc, jdoc_id node, void *data)
{
	struct search *s = data;
	const struct api_finish_word *word = listed_end(s->format, doc, node);
	bool whole = s->format->framing == FRAMING_JSON;
	bool end = word ? word->common != NULL
	                : s->conditional || !(jdoc_is_null(doc, node) || slice_is(jdoc_raw(doc, node), "false") ||
	                                      (!whole && (is_zero(doc, node) || is_empty_text(doc, node))) ||
	                                      is_default_word(s->schema, doc, node));
	s->found = end ? node : s->found;
	return !end;
}

jdoc_id end_mark_find(const struct api_response *format, const struct protobuf_schema *schema, const struct jdoc *doc)
{
	struct search s = {.format = format, .schema = schema, .found = JDOC_NONE};
	for (size_t i = 0; i < format->end_when.count && s.found == JDOC_NONE; i++) {
		s.conditional = api_pointer_conditional(format->end_when.list[i]);
		api_pointer_each(format->end_when.list[i], doc, JDOC_ROOT, keep_end, &s);
	}
	return s.found;
}
