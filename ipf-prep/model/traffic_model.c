#include "model/traffic_model.h"

#include "json/jout.h"
#include "json/json_tree.h"
#include "safe_text.h"
#include "stream/stream.h"

#include <stdlib.h>
#include <string.h>

#define FILE_MOST ((size_t)4 << 20) /* a model has less than 100 KB */
#define LONG_LINE 120

/* ---- writing ---- */

static json_t *sessions_json(const struct traffic_model *m)
{
	json_t *map = json_pack("{s:o}", "share", model_number(m->session_share));
	if (m->turns.count)
		json_object_set_new(map, "turns", quantile_table_json(&m->turns));
	if (m->wait.count) {
		json_object_set_new(map, "wait_share", model_number(m->wait_share));
		json_object_set_new(map, "wait_s", quantile_table_json(&m->wait));
	}
	if (m->gap.count) {
		json_object_set_new(map, "gap_share", model_number(m->gap_share));
		json_object_set_new(map, "gap_s", quantile_table_json(&m->gap));
	}
	if (m->lengths.steps.count)
		json_object_set_new(map, "rank_steps", quantile_table_json(&m->lengths.steps));
	return map;
}

static json_t *names_json(const struct traffic_names *names)
{
	json_t *map = json_object();
	for (int i = 0; i < names->count; i++)
		json_object_set_new(map, names->items[i].name, model_number(names->items[i].share));
	return map;
}

static int add_members(json_t *map, const struct traffic_model *m)
{
	json_object_set_new(map, "requests", json_integer((json_int_t)m->requests));
	json_object_set_new(map, "starts", json_integer((json_int_t)m->starts));
	if (m->arrivals.starts)
		json_object_set_new(map, "arrivals", arrival_model_json(&m->arrivals));
	if (m->session_share > 0)
		json_object_set_new(map, "sessions", sessions_json(m));
	json_object_set_new(map, "lengths", length_model_json(&m->lengths));
	if (m->prefixes.block_tokens)
		json_object_set_new(map, "prefixes", reuse_model_json(&m->prefixes));
	if (m->models.count)
		json_object_set_new(map, "models", names_json(&m->models));
	if (m->recorded.count)
		json_object_set_new(map, "recorded_models", names_json(&m->recorded));
	if (m->failed > 0)
		json_object_set_new(map, "failed", model_number(m->failed));
	if (m->hang_up.count)
		json_object_set_new(map, "hang_ups",
		                    json_pack("{s:o, s:o}", "share", model_number(m->hang_up_share), "after_s",
		                              quantile_table_json(&m->hang_up)));
	if (m->tool_share > 0)
		json_object_set_new(
			map, "tools",
			json_pack("{s:o, s:o}", "share", model_number(m->tool_share), "mean", model_number(m->tools)));
	return json_object_set_new(map, "figures", traffic_figures_json(&m->figures));
}

/* A value on a line if it is short; else its members on separate lines, as far as there are lists in it. */
static void write_value(struct jout *w, json_t *value, int depth)
{
	const char *key;
	json_t *item;
	size_t i;
	char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	bool fits = text && strlen(text) <= LONG_LINE;
	free(text);
	json_t *first = json_array_get(value, 0);
	if (fits || (json_is_array(value) && !json_is_array(first) && !json_is_object(first)) ||
	    (!json_is_array(value) && !json_is_object(value))) {
		jout_json(w, value);
		return;
	}
	bool map = json_is_object(value);
	const char *comma = map ? "{" : "[";
	w->comma = false;
	if (map) {
		json_object_foreach(value, key, item)
		{
			buffer_format(w->out, "%s\n%*s", comma, depth + 1, "");
			w->comma = false;
			jout_string(w, slice_of(key));
			buffer_text(w->out, ": ");
			w->comma = false;
			write_value(w, item, depth + 1);
			comma = ",";
		}
	}
	json_array_foreach(value, i, item)
	{
		buffer_format(w->out, "%s\n%*s", comma, depth + 1, "");
		w->comma = false;
		write_value(w, item, depth + 1);
		comma = ",";
	}
	buffer_format(w->out, "\n%*s%s", depth, "", map ? "}" : "]");
}

int traffic_model_text(const struct traffic_model *m, json_t *header, struct buffer *text, struct ipf_error *err)
{
	struct jout w = {.out = text};
	int status = header ? add_members(header, m) : -1;
	if (status == 0)
		write_value(&w, header, 0);
	buffer_byte(text, '\n');
	json_decref(header);
	return status < 0 || text->failed ? ipf_error_memory(err) : 0;
}

/* ---- reading ---- */

static int read_names(struct traffic_names *names, const json_t *model, const char *key, struct ipf_error *err)
{
	json_t *map = json_object_get(model, key), *share;
	const char *name;
	double sum = 0;
	if (!map)
		return 0;
	if (!json_is_object(map) || json_object_size(map) > TRAFFIC_NAMES)
		return model_expected(map, key, "", "an object of at most 32 names with their shares", err);
	json_object_foreach(map, name, share)
	{
		struct traffic_name *to = &names->items[names->count++];
		struct model_place at = {map, key, 0, 1e15};
		if (strlen(name) >= TRAFFIC_NAME_BYTES || !safe_text_is_safe(slice_of(name)))
			return ipf_error_set(err, IPF_INPUT, "%s: expected a name of less than %d bytes, got \"%.200s\"", key,
			                     TRAFFIC_NAME_BYTES, name);
		strcpy(to->name, name);
		if (model_need(&at, name, &to->share, err) < 0)
			return -1;
		sum += to->share;
	}
	return sum > 0 ? 0 : model_expected(map, key, "", "a share above 0", err);
}

/* A table in `sessions`, if it is there. */
static int read_times(struct quantile_table *t, const json_t *map, const char *key, struct ipf_error *err)
{
	struct model_place at = {map, "sessions", 0, 1e9};
	t->count = json_object_get(map, key) != NULL;
	return t->count ? quantile_table_read(t, &at, key, err) : 0;
}

static int read_sessions(struct traffic_model *m, const json_t *map, struct ipf_error *err)
{
	struct model_place share = {map, "sessions", 0, 1}, turns = {map, "sessions", 1, 10000};
	m->wait_share = m->gap_share = 1;
	if (!json_is_object(map))
		return model_expected(map, "sessions", "", "an object", err);
	if (model_need(&share, "share", &m->session_share, err) < 0 ||
	    model_optional(&share, "wait_share", &m->wait_share, err) < 0 ||
	    model_optional(&share, "gap_share", &m->gap_share, err) < 0 ||
	    quantile_table_read(&m->turns, &turns, "turns", err) < 0 || read_times(&m->wait, map, "wait_s", err) < 0 ||
	    read_times(&m->gap, map, "gap_s", err) < 0)
		return -1;
	m->turns.count = 1;
	m->lengths.steps.count = json_object_get(map, "rank_steps") != NULL;
	return m->lengths.steps.count ? quantile_table_read(&m->lengths.steps, &share, "rank_steps", err) : 0;
}

static int read_hang_ups(struct traffic_model *m, const json_t *map, struct ipf_error *err)
{
	struct model_place share = {map, "hang_ups", 0, 1}, after = {map, "hang_ups", 0, 1e9};
	m->hang_up.count = 1;
	return model_need(&share, "share", &m->hang_up_share, err) < 0 ||
	               quantile_table_read(&m->hang_up, &after, "after_s", err) < 0
	           ? -1
	           : 0;
}

static int read_members(struct traffic_model *m, const json_t *map, struct ipf_error *err)
{
	const json_t *arrivals = json_object_get(map, "arrivals"), *sessions = json_object_get(map, "sessions"),
				 *prefixes = json_object_get(map, "prefixes"), *tools = json_object_get(map, "tools"),
				 *hang_ups = json_object_get(map, "hang_ups");
	struct model_place count = {map, "", 1, 1e15}, share = {map, "", 0, 1}, tool = {tools, "tools", 0, 1};
	double requests, starts;
	if (model_need(&count, "requests", &requests, err) < 0 || model_need(&count, "starts", &starts, err) < 0 ||
	    model_optional(&share, "failed", &m->failed, err) < 0 ||
	    length_model_read(&m->lengths, json_object_get(map, "lengths"), err) < 0)
		return -1;
	m->requests = (int64_t)requests;
	m->starts = (int64_t)starts;
	if ((arrivals && arrival_model_read(&m->arrivals, arrivals, err) < 0) ||
	    (sessions && read_sessions(m, sessions, err) < 0) ||
	    (prefixes && reuse_model_read(&m->prefixes, prefixes, err) < 0) ||
	    (hang_ups && read_hang_ups(m, hang_ups, err) < 0) || read_names(&m->models, map, "models", err) < 0 ||
	    read_names(&m->recorded, map, "recorded_models", err) < 0)
		return -1;
	if (tools) {
		if (model_need(&tool, "share", &m->tool_share, err) < 0)
			return -1;
		tool.most = 1000;
		if (model_need(&tool, "mean", &m->tools, err) < 0)
			return -1;
	}
	return traffic_figures_read(&m->figures, json_object_get(map, "figures"), err);
}

static int read_header(const json_t *map, struct ipf_error *err)
{
	const char *kind = json_string_value(json_object_get(map, "ipf"));
	if (!kind || strcmp(kind, "traffic-model") != 0)
		return ipf_error_set(err, IPF_INPUT, "not a traffic model; ipf-prep fit makes one");
	if (json_integer_value(json_object_get(map, "version")) != 1)
		return model_expected(json_object_get(map, "version"), "version", "", "1", err);
	return 0;
}

int traffic_model_parse(struct traffic_model **made, const char *path, struct slice text, struct ipf_error *err)
{
	json_error_t wrong;
	if (text.len > FILE_MOST)
		return ipf_error_at(err, IPF_INPUT, path, 0, "not a traffic model: it has more than %zu MB", FILE_MOST >> 20);
	json_t *map = json_tree_load(text, FILE_MOST, JSON_REJECT_DUPLICATES, &wrong);
	if (!map)
		return ipf_error_at(err, IPF_INPUT, path, wrong.line > 0 ? wrong.line : 0, "not a traffic model: %.200s",
		                    wrong.text);
	struct traffic_model *m = calloc(1, sizeof *m);
	int status = !m ? ipf_error_memory(err) : read_header(map, err) < 0 || read_members(m, map, err) < 0 ? -1 : 0;
	json_decref(map);
	if (status < 0) {
		ipf_error_place(err, path, 0);
		free(m);
		return -1;
	}
	*made = m;
	return 0;
}

int traffic_model_read(struct traffic_model **made, const char *path, struct ipf_error *err)
{
	struct buffer text = {0};
	int status = stream_text_read(path, FILE_MOST, &text, err);
	if (status == 0)
		status = traffic_model_parse(made, path, buffer_all(&text), err);
	buffer_release(&text);
	return status;
}

bool traffic_model_is(struct slice text)
{
	static const char mark[] = "\"traffic-model\"";
	size_t look = text.len < 256 ? text.len : 256;
	return text.data && memmem(text.data, look, mark, sizeof mark - 1) != NULL;
}
