/* Requests of several inputs: inputs per second, and latency by how many inputs a request has. */
#include "sections/sections.h"

#include "document/shown_numbers.h"

#include <math.h>

static const struct doc_column columns[] = {
	{"requests", "ok", NULL, "requests/ok", CELL_COUNT, KEEP},
	{"requests", "failed", NULL, "requests/failed", CELL_COUNT, KEEP},
	{"E2E, ms", "p50", NULL, "latency/e2e_ms/from_start/p50", CELL_PERCENTILE, KEEP},
	{"E2E, ms", "p99", NULL, "latency/e2e_ms/from_start/p99", CELL_PERCENTILE, KEEP},
	{"per input, ms", "p50", NULL, "latency/per_input_ms/p50", CELL_PERCENTILE, KEEP},
	{"per input, ms", "p99", NULL, "latency/per_input_ms/p99", CELL_PERCENTILE, KEEP_FULL},
	{"per s", "inputs", NULL, "throughput/inputs_per_s", CELL_NUMBER, KEEP},
	{"per s", "input tokens", NULL, "throughput/input_tokens_per_s", CELL_NUMBER, KEEP_FULL},
};

static struct doc_table *batch_table(const struct telling *t, const char *id, const char *caption, const char *rows)
{
	return doc_table(t->d, &(struct doc_table_spec){.id = id,
	                                                .caption = caption,
	                                                .rows = rows,
	                                                .columns = columns,
	                                                .count = sizeof columns / sizeof *columns,
	                                                .sortable = true,
	                                                .few = true});
}

/* Each of several stages. */
static void tell_stages(const struct telling *t)
{
	json_t *stages = json_at(t->report, "stages"), *block;
	struct doc_table *table = NULL;
	size_t i;
	json_array_foreach(stages, i, block)
	{
		if (json_array_size(stages) < 2 || !json_object_size(json_at(block, "inputs")))
			continue;
		if (!table)
			table = batch_table(t, "batches-stages", "Inputs by stage", "stage");
		doc_row_of(t->d, table, words_at(block, "name"), NULL, block)->aside = json_is_false(
			json_at(block, "measured"));
	}
}

void section_batches(const struct telling *t)
{
	json_t *sizes = json_at(t->total, "by_inputs"), *block;
	const char *size;
	char a[40], b[40], c[40];
	if (!(figure_at(t->total, "inputs/max") > 1))
		return;
	doc_fact(t->d, "inputs", "%s/s; %s a request, at most %s",
	         show_number(figure_at(t->total, "throughput/inputs_per_s"), a),
	         show_number(figure_at(t->total, "inputs/mean"), b), show_whole(figure_at(t->total, "inputs/max"), c));
	struct doc_table *table = batch_table(t, "batches", "By inputs of a request", "inputs");
	json_object_foreach(sizes, size, block) doc_row_of(t->d, table, size, NULL, block);
	if (json_object_size(sizes) != 1)
		doc_row_of(t->d, table, "total", NULL, t->total)->total = true;
	tell_stages(t);
}
