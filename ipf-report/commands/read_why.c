#include "commands/read_why.h"

#include "json/json_tree.h"
#include "stream/stream.h"

#include <string.h>

#define FILE_MOST ((size_t)64 << 20)

static bool has_part(const json_t *from, const json_t *digests)
{
	json_t *one;
	size_t i;
	json_array_foreach(from, i, one) if (json_equal(json_object_get(one, "digests"), digests)) return true;
	return false;
}

static int check(json_t *file, const char *path, const struct run_data *run, struct ipf_error *err)
{
	const char *kind = json_string_value(json_object_get(file, "ipf"));
	const json_t *from = json_object_get(file, "from");
	if (!kind || strcmp(kind, "why") != 0 || !json_is_object(json_object_get(file, "why")))
		return ipf_error_at(err, IPF_INPUT, path, 0, "expected the output of ipf-twin why");
	if (json_integer_value(json_object_get(file, "version")) != 1)
		return ipf_error_at(err, IPF_INPUT, path, 0, "version: expected 1");
	bool same = json_array_size(from) == (size_t)run->part_count;
	for (int i = 0; i < run->part_count && same; i++)
		same = has_part(from, run->parts[i].digests);
	return same ? 0 : ipf_error_at(err, IPF_INPUT, path, 0, "explains other results than these");
}

int read_why(json_t **why, const char *path, const struct run_data *run, struct ipf_error *err)
{
	struct buffer text = {0};
	json_error_t wrong;
	json_t *file = NULL;
	int result = stream_text_read(path, FILE_MOST, &text, err);
	if (result == 0 && text.len > FILE_MOST)
		result = ipf_error_at(err, IPF_INPUT, path, 0, "expected the output of ipf-twin why: it has more than %zu MiB",
		                      FILE_MOST >> 20);
	if (result == 0 && !(file = json_tree_load(buffer_all(&text), FILE_MOST, 0, &wrong)))
		result = ipf_error_at(err, IPF_INPUT, path, wrong.line > 0 ? wrong.line : 0, "not JSON: %s", wrong.text);
	if (result == 0 && (result = check(file, path, run, err)) == 0)
		*why = json_incref(json_object_get(file, "why"));
	json_decref(file);
	buffer_release(&text);
	return result;
}
