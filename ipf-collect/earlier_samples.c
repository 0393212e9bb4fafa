#include "earlier_samples.h"

#include "absent.h"
#include "json/jdoc.h"
#include "stream/provenance.h"

#include <stdlib.h>
#include <string.h>

struct earlier_samples {
	struct stream_reader *reader;
	struct jdoc doc;
	char incomplete[512]; /* their faults; "": none */
};

static json_t *start_of(const json_t *header)
{
	json_t *t0 = json_object_get(header, "t0_unix_ns");
	return json_is_integer(t0) ? t0 : NULL;
}

static bool made_from(const json_t *from, const json_t *t0)
{
	json_t *header;
	size_t i;
	json_array_foreach(from, i, header)
	{
		if (t0 && json_equal(start_of(header), t0))
			return true;
	}
	return false;
}

static int check_same_run(const struct earlier_samples *e, const struct record_inputs *inputs, struct ipf_error *err)
{
	const char *name = stream_reader_name(e->reader);
	const json_t *header = stream_reader_header(e->reader);
	for (size_t i = 0; i < inputs->count; i++) {
		struct stream_reader *records = record_reader_stream(inputs->list[i].reader);
		const json_t *t0 = start_of(stream_reader_header(records));
		if (!t0)
			return ipf_error_at(err, IPF_INPUT, stream_reader_name(records), 1,
			                    "t0_unix_ns: missing, but --samples needs it to recognize the run");
		if (!made_from(json_object_get(header, "from"), t0))
			return ipf_error_at(err, IPF_INPUT, name, 1, "results of another run: they were not made from %s",
			                    stream_reader_name(records));
	}
	const json_t *earliest = start_of(json_object_get(header, "series"));
	if (!earliest || json_integer_value(earliest) != inputs->t0_unix_ns)
		return ipf_error_at(
			err, IPF_INPUT, name, 1,
			"series.t0_unix_ns: the times of the samples count from the start of another shard than the "
			"earliest of the records; give all shards");
	return 0;
}

int earlier_samples_open(struct earlier_samples **earlier, const char *path, const struct record_inputs *inputs,
                         struct ipf_error *err)
{
	if (!path)
		return 0;
	for (size_t i = 0; i < inputs->count; i++)
		if (strcmp(path, "-") == 0 &&
		    strcmp(stream_reader_name(record_reader_stream(inputs->list[i].reader)), "standard input") == 0)
			return ipf_error_set(err, IPF_USAGE, "--samples: expected a file, since standard input has the records");
	struct earlier_samples *e = calloc(1, sizeof *e);
	*earlier = e;
	if (!e)
		return ipf_error_memory(err);
	return stream_reader_open(&e->reader, path, "results", err) < 0 ? -1 : check_same_run(e, inputs, err);
}

/* Samples begin with the member naming their kind. */
static bool is_taken(struct slice line)
{
	static const char *const kinds[] = {"{\"sample\":\"server\"", "{\"sample\":\"gpu\""};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (line.len > strlen(kinds[i]) && memcmp(line.data, kinds[i], strlen(kinds[i])) == 0)
			return true;
	return false;
}

int earlier_samples_copy(struct earlier_samples *e, struct stream_writer *writer, struct buffer *line,
                         struct ipf_error *bad, struct ipf_error *err)
{
	struct slice text;
	while (e && stream_reader_next(e->reader, &text, bad) == 1) {
		if (!is_taken(text))
			continue;
		if (jdoc_parse(&e->doc, text.data, text.len, bad) < 0)
			break;
		buffer_clear(line);
		buffer_slice(line, text);
		if (stream_writer_line(writer, line, err) < 0)
			return -1;
	}
	if (bad->kind == IPF_OK)
		return 0;
	snprintf(e->incomplete, sizeof e->incomplete, "%.*s", (int)sizeof e->incomplete - 1, bad->text);
	ipf_error_place(bad, stream_reader_name(e->reader), stream_reader_line(e->reader));
	return 0;
}

void earlier_samples_trailer(const struct earlier_samples *e, json_t *trailer)
{
	static const char *const members[] = {"server", "prometheus", "accelerators"};
	json_t *end = e ? stream_reader_trailer(e->reader) : NULL;
	if (!e)
		return;
	for (size_t i = 0; end && i < sizeof members / sizeof *members; i++)
		if (json_object_get(end, members[i]))
			json_object_set(trailer, members[i], json_object_get(end, members[i]));
	json_object_set_new(trailer, "samples",
	                    *e->incomplete ? json_pack("{s:s, s:s}", "ipf", "results", "incomplete", e->incomplete)
	                                   : provenance_stream(e->reader));
}

void earlier_samples_close(struct earlier_samples *e)
{
	if (!e)
		return;
	stream_reader_close(e->reader);
	jdoc_release(&e->doc);
	free(e);
}
