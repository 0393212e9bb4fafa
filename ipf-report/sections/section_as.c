/* The figures that other tools would have reported of the run, and their rules. */
#include "sections/sections.h"

#include <math.h>
#include <string.h>

static const struct figure {
	const char *member, *caption;
	bool latency;
	const char *paths[3], *heads[3];
} figures[] = {
	{"ttft_ms", "Time to first token, ms", true, {NULL}, {NULL}},
	{"itl_ms", "Inter-token latency, ms", true, {NULL}, {NULL}},
	{"tpot_ms", "Time per output token, ms", true, {NULL}, {NULL}},
	{"e2e_ms", "Latency of a request, ms", true, {NULL}, {NULL}},
	{"throughput",
     "Throughput",
     false,
     {"requests_per_s", "output_tokens_per_s", "seconds"},
     {"requests/s", "tokens/s", "over, s"}},
	{"output_tokens", "Output tokens", false, {"total", "each"}, {"all", "a request"}},
	{"failures", "Successes and failures", false, {"ok", "failed"}, {"ok", "failed"}},
};

static const struct doc_column latency_columns[] = {
	{.name = "mean", .path = "mean"}, {.name = "p50", .path = "p50"}, {.name = "p90", .path = "p90"},
	{.name = "p99", .path = "p99"},   {.name = "std", .path = "std"}, {.name = "of", .path = "n", .kind = CELL_COUNT}};
enum { LATENCY_COLUMNS = 6, COLUMNS_MOST = 8 };

static void figure_row(const struct telling *t, struct doc_table *table, const char *name, json_t *tool,
                       const struct figure *f)
{
	json_t *figure = json_at(tool, doc_say(t->d, "figures/%s", f->member)), *is = json_at(figure, "is");
	const char *called = text_at(is, "name"), *rule = text_at(is, "rule");
	double ok = figure_at(tool, "figures/failures/ok");
	doc_row(t->d, table, name, NULL);
	for (int i = 0; i < table->spec.count - 1; i++) {
		const struct doc_column *c = &table->spec.columns[i];
		double value = strcmp(c->path, "each") == 0 ? figure_at(figure, "total") / (ok > 0 ? ok : NAN)
		                                            : figure_at(figure, c->path);
		doc_cell_figure(t->d, table, value, c->kind);
	}
	bool same = !called || strcmp(called, "-") == 0;
	doc_cell_text(t->d, table, rule ? doc_say(t->d, "%s%s%s", same ? "" : called, same ? "" : ": ", rule) : NULL,
	              TONE_PLAIN);
}

static void tell_figure(const struct telling *t, json_t *as, const struct figure *f)
{
	struct doc_column columns[COLUMNS_MOST];
	int count = 0;
	json_t *tool;
	size_t i;
	for (int k = 0; f->latency && k < LATENCY_COLUMNS; k++)
		columns[count++] = latency_columns[k];
	for (int k = 0; k < 3 && f->paths[k]; k++)
		columns[count++] = (struct doc_column){.name = f->heads[k],
		                                       .path = f->paths[k],
		                                       .kind = strcmp(f->member, "failures") == 0 ? CELL_COUNT : CELL_NUMBER};
	columns[count++] = (struct doc_column){.name = "rule", .kind = CELL_WORDS};
	struct doc_table *table = doc_table(
		t->d, &(struct doc_table_spec){
				  .id = doc_replace(t->d, doc_say(t->d, "as-%s", f->latency ? f->caption : f->member), " ,_", '-'),
				  .caption = f->caption,
				  .rows = "tool",
				  .columns = columns,
				  .count = count});
	figure_row(t, table, "ipf", json_at(as, "ipf"), f);
	json_array_foreach(json_at(as, "tools"), i, tool) figure_row(t, table, text_at(tool, "tool/name"), tool, f);
}

void section_as(const struct telling *t)
{
	json_t *as = json_at(t->report, "as"), *tool, *lack;
	size_t i, k;
	if (!as)
		return;
	json_array_foreach(json_at(as, "tools"), i, tool)
	{
		const char *name = text_at(tool, "tool/name");
		doc_fact(t->d, name, "%s %s (%s)", words_at(tool, "tool/title"), words_at(tool, "tool/version"),
		         words_at(tool, "tool/source"));
		json_array_foreach(json_at(tool, "lacks"), k, lack) doc_fact(t->d, "", "%s", words_of(lack))->tone = TONE_WARN;
	}
	for (size_t f = 0; f < sizeof figures / sizeof *figures; f++)
		tell_figure(t, as, &figures[f]);
}
