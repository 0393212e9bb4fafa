#include "scrape/query_answer.h"

#include <string.h>

/* The labels of one series, decoded: a buffer may move while it grows, so places are resolved at the end. */
struct labels {
	struct buffer text;
	struct {
		size_t name, value, end;
	} at[EXPOSITION_LABELS_MAX];
	size_t count;
};

static int no_answer(struct ipf_error *err, const char *why)
{
	return ipf_error_set(err, IPF_INPUT, "no answer of the Prometheus API: %s", why);
}

int query_answer_error(struct jdoc *j, struct slice body, struct ipf_error *err)
{
	struct buffer type = {0}, text = {0};
	struct ipf_error ignored = {0};
	if (jdoc_parse(j, body.data, body.len, &ignored) < 0 || !jdoc_text_is(j, jdoc_get(j, JDOC_ROOT, "status"), "error"))
		return 0;
	jdoc_get_text(j, JDOC_ROOT, "errorType", &type, &ignored);
	jdoc_get_text(j, JDOC_ROOT, "error", &text, &ignored);
	ipf_error_set(err, IPF_INPUT, "%s: %s", type.len ? type.data : "error", text.len ? text.data : "without a text");
	buffer_release(&type);
	buffer_release(&text);
	return -1;
}

/* The data of a successful answer. */
static int read_data(struct jdoc *j, struct slice body, jdoc_id *data, struct ipf_error *err)
{
	struct ipf_error bad = {0};
	if (jdoc_parse(j, body.data, body.len, &bad) < 0)
		return no_answer(err, bad.text);
	if (query_answer_error(j, body, err) < 0)
		return -1;
	*data = jdoc_get(j, JDOC_ROOT, "data");
	return jdoc_text_is(j, jdoc_get(j, JDOC_ROOT, "status"), "success") ? 0
	                                                                    : no_answer(err, "status is not \"success\"");
}

static bool read_labels(const struct jdoc *j, jdoc_id metric, struct labels *l)
{
	l->count = 0;
	buffer_clear(&l->text);
	for (struct jdoc_each e = jdoc_each(j, metric); jdoc_step(&e); l->count++) {
		if (l->count == EXPOSITION_LABELS_MAX || jdoc_type_of(j, e.value) != JDOC_TEXT)
			return false;
		l->at[l->count].name = l->text.len;
		jdoc_text(j, e.key, &l->text);
		l->at[l->count].value = l->text.len;
		jdoc_text(j, e.value, &l->text);
		l->at[l->count].end = l->text.len;
	}
	return true;
}

static bool begin_series(const struct labels *l, const struct query_handler *handler)
{
	struct exposition_label list[EXPOSITION_LABELS_MAX];
	struct exposition_series series = {.labels = list, .name = {"", 0}};
	for (size_t i = 0; i < l->count; i++) {
		struct slice name = {l->text.data + l->at[i].name, l->at[i].value - l->at[i].name};
		struct slice value = {l->text.data + l->at[i].value, l->at[i].end - l->at[i].value};
		if (slice_is(name, "__name__"))
			series.name = value;
		else
			list[series.labels_count++] = (struct exposition_label){name, value};
	}
	return handler->series(handler->data, &series);
}

/* [seconds, "number"] */
static bool read_value(const struct jdoc *j, jdoc_id pair, const struct query_handler *handler)
{
	jdoc_id text = jdoc_at(j, pair, 1);
	struct slice raw = jdoc_raw(j, text);
	double unix_s, value;
	if (jdoc_count(j, pair) != 2 || !jdoc_to_double(j, jdoc_at(j, pair, 0), &unix_s) ||
	    jdoc_type_of(j, text) != JDOC_TEXT || !exposition_number((struct slice){raw.data + 1, raw.len - 2}, &value))
		return false;
	handler->value(handler->data, unix_s, value);
	return true;
}

int query_answer_range(struct jdoc *j, struct slice body, const struct query_handler *handler, struct ipf_error *err)
{
	struct labels labels = {0};
	jdoc_id data;
	if (read_data(j, body, &data, err) < 0)
		return -1;
	if (!jdoc_text_is(j, jdoc_get(j, data, "resultType"), "matrix"))
		return no_answer(err, "resultType is not \"matrix\"");
	bool good = true, wanted = true;
	for (struct jdoc_each e = jdoc_each(j, jdoc_get(j, data, "result")); good && wanted && jdoc_step(&e);) {
		good = read_labels(j, jdoc_get(j, e.value, "metric"), &labels);
		wanted = good && !labels.text.failed && begin_series(&labels, handler);
		/* native histograms have "histograms" instead of "values" */
		for (struct jdoc_each v = jdoc_each(j, jdoc_get(j, e.value, "values")); good && wanted && jdoc_step(&v);)
			good = read_value(j, v.value, handler);
	}
	bool failed = labels.text.failed;
	buffer_release(&labels.text);
	if (failed)
		return ipf_error_memory(err);
	return good ? 0 : no_answer(err, "a series has no labels or values as documented");
}

int query_answer_names(struct jdoc *j, struct slice body, bool (*name)(void *data, struct slice name), void *data,
                       struct ipf_error *err)
{
	struct buffer text = {0};
	jdoc_id list;
	if (read_data(j, body, &list, err) < 0)
		return -1;
	bool good = true, wanted = true;
	for (struct jdoc_each e = jdoc_each(j, list); good && wanted && jdoc_step(&e);) {
		buffer_clear(&text);
		good = jdoc_type_of(j, e.value) == JDOC_TEXT;
		if (good)
			jdoc_text(j, e.value, &text);
		wanted = good && !text.failed && name(data, buffer_all(&text));
	}
	bool failed = text.failed;
	buffer_release(&text);
	if (failed)
		return ipf_error_memory(err);
	return good ? 0 : no_answer(err, "a name is no text");
}
