/* rerank: a query and the documents that are ranked for it.
 *
 * JSON Lines, or an array. The shapes that data sets, bodies of requests and other tools have, in any mixture:
 *
 *     {"query": TEXT, "documents": [DOCUMENT, …]}               Cohere, Jina, vLLM, llama.cpp, Infinity
 *     {"query": TEXT, "texts": [DOCUMENT, …]}                   Text Embeddings Inference
 *     {"query": {"text": TEXT}, "passages": [DOCUMENT, …]}      NVIDIA NIM
 *     {"query": TEXT, "positive": […], "negative": […]}         MTEB's reranking tasks; also pos and neg
 * (FlagEmbedding)
 *     {"text_1": TEXT, "text_2": [DOCUMENT, …]}                 vLLM's scores
 *     {"texts": [{"name": "query", "contents": [TEXT]}, {"name": "passages", "contents": [TEXT, …]}]}       AIPerf
 *
 * A document is a text, or an object with its "text"; a list of one may be the document itself. Also read: "model", and
 * "id" or "query_id".
 */
#include "sources/record_fields.h"
#include "sources/sniff.h"

static int bad_text(const struct jdoc *j, jdoc_id node, const char *key, struct ipf_error *err)
{
	return jdoc_expected(j, node, key, "a text, or an object with its text", err);
}

/* A text, or that in {"text": …}; absent if it is neither. */
static jdoc_id text_of(const struct jdoc *j, jdoc_id node)
{
	jdoc_id text = jdoc_type_of(j, node) == JDOC_MAP ? jdoc_get(j, node, "text") : node;
	return jdoc_type_of(j, text) == JDOC_TEXT ? text : JDOC_NONE;
}

static int add_text(struct draft *d, const struct jdoc *j, jdoc_id node, enum role role, const char *key,
                    struct ipf_error *err)
{
	jdoc_id text = text_of(j, node);
	if (text == JDOC_NONE)
		return bad_text(j, node, key, err);
	draft_message(d, role, draft_text(d, j, text));
	return 0;
}

static int add_documents(struct draft *d, const struct jdoc *j, jdoc_id list, const char *key, struct ipf_error *err)
{
	if (jdoc_is_null(j, list))
		return 0;
	if (jdoc_type_of(j, list) != JDOC_LIST)
		return add_text(d, j, list, ROLE_USER, key, err);
	for (struct jdoc_each e = jdoc_each(j, list); jdoc_step(&e);)
		if (add_text(d, j, e.value, ROLE_USER, key, err) < 0)
			return -1;
	return 0;
}

/* The query, which a list may hold alone. */
static int add_query(struct draft *d, const struct jdoc *j, jdoc_id query, const char *key, struct ipf_error *err)
{
	if (jdoc_type_of(j, query) == JDOC_LIST && jdoc_count(j, query) == 1)
		query = jdoc_at(j, query, 0);
	return jdoc_is_null(j, query) ? ipf_error_set(err, IPF_INPUT, "%s: missing", key)
	                              : add_text(d, j, query, ROLE_SYSTEM, key, err);
}

/* AIPerf's list of named texts. */
static jdoc_id contents_of(const struct jdoc *j, jdoc_id texts, const char *name)
{
	for (struct jdoc_each e = jdoc_each(j, jdoc_type_of(j, texts) == JDOC_LIST ? texts : JDOC_NONE); jdoc_step(&e);)
		if (jdoc_text_is(j, jdoc_get(j, e.value, "name"), name))
			return jdoc_get(j, e.value, "contents");
	return JDOC_NONE;
}

static int add_texts(struct draft *d, const struct jdoc *j, struct ipf_error *err)
{
	static const char *const lists[] = {"documents", "passages", "texts", "positive",
	                                    "negative",  "pos",      "neg",   "text_2"};
	jdoc_id texts = jdoc_get(j, JDOC_ROOT, "texts"), named = contents_of(j, texts, "query");
	if (named != JDOC_NONE)
		return add_query(d, j, named, "query", err) < 0
		           ? -1
		           : add_documents(d, j, contents_of(j, texts, "passages"), "passages", err);
	const char *key = jdoc_get(j, JDOC_ROOT, "text_1") == JDOC_NONE ? "query" : "text_1";
	if (add_query(d, j, jdoc_get(j, JDOC_ROOT, key), key, err) < 0)
		return -1;
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		if (add_documents(d, j, jdoc_get(j, JDOC_ROOT, lists[i]), lists[i], err) < 0)
			return -1;
	return 0;
}

static int read_record(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	(void)state;
	if (need_object(j, JDOC_ROOT, "record", err) < 0)
		return -1;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	r->batch = true;
	if (field_text(d, j, JDOC_ROOT, "model", &r->model, err) < 0 ||
	    field_name(d, j, JDOC_ROOT, "id", &r->id, err) < 0 ||
	    (!r->id.data && field_name(d, j, JDOC_ROOT, "query_id", &r->id, err) < 0) || add_texts(d, j, err) < 0)
		return -1;
	if (d->message_count < 2) {
		sink->unusable(sink, "no documents");
		return 0;
	}
	return sink->take(sink, d, err);
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_members(sniff, "query documents") || sniff_members(sniff, "query passages") ||
	       sniff_members(sniff, "query texts") || sniff_members(sniff, "query positive negative") ||
	       sniff_members(sniff, "query pos neg") || sniff_members(sniff, "text_1 text_2") ||
	       (sniff_members(sniff, "texts") && sniff_text(sniff, "\"passages\""));
}

const struct source_format source_rerank = {
	.name = "rerank",
	.about = "a query and the documents that are ranked for it: MTEB's tasks, bodies of requests, AIPerf's rankings",
	.kind = SOURCE_DATASET,
	.unit = UNIT_JSON,
	.read_record = read_record,
	.recognises = recognises,
};
