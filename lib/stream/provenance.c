#include "stream/provenance.h"

#include "clock.h"
#include "safe_text.h"
#include "version.h"

#include <string.h>
#include <sys/stat.h>

json_t *stream_header(const char *kind, struct provenance *p)
{
	char tool[64];
	snprintf(tool, sizeof tool, "%s %s", p->tool, IPF_VERSION);
	json_t *header = json_pack("{s:s, s:i, s:s}", "ipf", kind, "version", 1, "tool", tool);
	int bad = !header;
	if (p->argv)
		bad |= json_object_set_new(header, "argv", p->argv);
	if (p->has_seed)
		/* as text if JSON integers end before it: a reader must get every bit of the seed */
		bad |= json_object_set_new(header, "seed",
		                           p->seed <= INT64_MAX ? json_integer((json_int_t)p->seed)
		                                                : json_sprintf("%llu", (unsigned long long)p->seed));
	if (!p->reproducible && !p->undated) {
		char now[32];
		clock_format(clock_wall(), now);
		bad |= json_object_set_new(header, "created", json_string(now));
	}
	if (p->from)
		bad |= json_object_set_new(header, "from", p->from);
	if (bad) {
		json_decref(header);
		return NULL;
	}
	return header;
}

json_t *provenance_run_name(const char *output)
{
	const char *slash = output ? strrchr(output, '/') : NULL, *base = slash ? slash + 1 : output;
	struct stat file;
	if (!output || strcmp(output, "-") == 0 || (stat(output, &file) == 0 && !S_ISREG(file.st_mode)))
		return NULL;
	size_t len = strcspn(base, ".");
	return len && safe_text_is_safe((struct slice){base, len}) ? json_stringn(base, len) : NULL;
}

json_t *provenance_file(const char *path, int64_t bytes, const char *sha256)
{
	const char *slash = strrchr(path, '/');
	return json_pack("{s:s%, s:I, s:s}", "file", slash ? slash + 1 : path, strlen(slash ? slash + 1 : path), "bytes",
	                 (json_int_t)bytes, "sha256", sha256);
}

static json_t *find_in(json_t *header, const char *kind, int depth)
{
	const char *own = json_string_value(json_object_get(header, "ipf"));
	/* an entry of a trailer's "from" has the kind too, but only a header names its tool */
	if (own && strcmp(own, kind) == 0 && json_object_get(header, "tool"))
		return header;
	json_t *from = json_object_get(header, "from"), *entry;
	size_t i;
	if (depth < 16)
		json_array_foreach(from, i, entry)
		{
			json_t *found = find_in(entry, kind, depth + 1);
			if (found)
				return found;
		}
	return NULL;
}

json_t *provenance_find(json_t *header, const char *kind)
{
	return find_in(header, kind, 0);
}

json_t *provenance_stream(struct stream_reader *reader)
{
	return json_pack("{s:O, s:I, s:s}", "ipf", json_object_get(stream_reader_header(reader), "ipf"), "lines",
	                 (json_int_t)stream_reader_lines(reader), "sha256", stream_reader_sha256(reader));
}
