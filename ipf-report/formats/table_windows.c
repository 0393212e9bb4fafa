/* The table `windows`: a row for each window and stage, with the members that window.h lists. */
#include "formats/table_output.h"

#include "results/run_data.h"

#include <math.h>

enum { TIME = TABLE_COLUMNS, LENGTH, STAGE, FAILED, FAILURES, SUMS, COLUMNS_MAX = 64 };
enum { HISTOGRAM_COLUMNS = 4, NAME_BYTES = 32 };

struct window_table {
	struct table_output *t;
	struct parquet_column columns[COLUMNS_MAX];
	char names[COLUMNS_MAX][NAME_BYTES]; /* those that are made here */
	size_t sums, count;                  /* columns before the histograms, and all */
	struct buffer json;
};

/* Beside the histogram ttft_ns: ttft_ns_n, ttft_ns_p50, ttft_ns_p99. */
static void add_histogram(struct window_table *w, const char *name)
{
	static const char *const ends[HISTOGRAM_COLUMNS] = {"_n", "_p50", "_p99", ""};
	for (int i = 0; i < HISTOGRAM_COLUMNS; i++) {
		char *made = w->names[w->count];
		snprintf(made, NAME_BYTES, "%s%s", name, ends[i]);
		w->columns[w->count++] = (struct parquet_column){
			.name = made, .kind = i == HISTOGRAM_COLUMNS - 1 ? PARQUET_JSON : PARQUET_INTEGER};
	}
}

static bool begin(struct window_table *w)
{
	static const struct parquet_column first[] = {
		TABLE_FIRST_COLUMNS("window"),
		[TIME] = {"t_ns", PARQUET_INTEGER, false},
		[LENGTH] = {"length_ns", PARQUET_INTEGER, false},
		[STAGE] = {"stage", PARQUET_INTEGER, false},
		[FAILED] = {"failed", PARQUET_INTEGER, false},
		[FAILURES] = {"failures", PARQUET_JSON, false},
	};
	const char *name;
	memcpy(w->columns, first, sizeof first);
	w->count = SUMS;
	for (size_t i = 0; (name = window_sum_name(i)); i++)
		w->columns[w->count++] = (struct parquet_column){.name = name, .kind = PARQUET_INTEGER};
	w->sums = w->count;
	for (size_t i = 0; (name = window_histogram_name(i)); i++)
		add_histogram(w, name);
	return table_begin(w->t, w->columns, w->count);
}

static void put_json(struct window_table *w, size_t column)
{
	parquet_writer_text(w->t->w, column, buffer_all(&w->json));
	w->t->out->failed |= w->json.failed;
	buffer_clear(&w->json);
}

static void put_histogram(struct window_table *w, size_t column, const struct histogram *h)
{
	static const double percentiles[] = {50, 99};
	if (!h)
		return;
	parquet_writer_integer(w->t->w, column, histogram_count(h));
	for (size_t i = 0; i < sizeof percentiles / sizeof *percentiles; i++)
		parquet_writer_integer(w->t->w, column + 1 + i, llround(histogram_percentile(h, percentiles[i])));
	histogram_write(h, &w->json);
	put_json(w, column + HISTOGRAM_COLUMNS - 1);
}

static void put_window(struct window_table *w, const struct window *window)
{
	struct parquet_writer *to = w->t->w;
	parquet_writer_integer(to, TABLE_NUMBER, window->number);
	table_date(w->t, 0, window_begin_ns(window));
	parquet_writer_integer(to, TIME, window_begin_ns(window));
	parquet_writer_integer(to, LENGTH, window->length_ns);
	parquet_writer_integer(to, STAGE, window->stage);
	parquet_writer_integer(to, FAILED, window_failed(window));
	window_write_failures(window, &w->json);
	put_json(w, FAILURES);
	for (size_t i = 0; SUMS + i < w->sums; i++)
		parquet_writer_integer(to, SUMS + i, window_sum(window, i));
	for (size_t i = 0; w->sums + i * HISTOGRAM_COLUMNS < w->count; i++)
		put_histogram(w, w->sums + i * HISTOGRAM_COLUMNS, window_histogram(window, i));
	table_end_row(w->t);
}

/* Parts that are repeats have no time in common. */
void table_windows(struct table_output *t)
{
	const struct run_data *run = t->report->run;
	struct window_table w = {.t = t};
	const struct window *window;
	bool one_clock = run->windows && (run->part_count == 1 || run->shards);
	if (!begin(&w))
		return;
	for (size_t i = 0; one_clock && !t->stopped && (window = series_get(run->windows, i)); i++)
		put_window(&w, window);
	buffer_release(&w.json);
}
