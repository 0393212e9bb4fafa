/* Prints how fast each model answered, from the records of ipf-fire(1).
 *
 *     cc -o measure measure.c $(pkg-config --cflags --libs ipf)
 *     ./measure run.records.zst
 */
#include <ipf/ipf.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODELS_MOST = 32 };

struct model {
	char name[128];
	long failed;
	struct ipf_samples *ttft, *e2e;
};

struct models {
	struct model list[MODELS_MOST];
	size_t count;
};

static struct model *model_of(struct models *models, const char *name)
{
	for (size_t i = 0; i < models->count; i++)
		if (strcmp(models->list[i].name, name) == 0)
			return &models->list[i];
	if (models->count == MODELS_MOST)
		return NULL;
	struct model *model = &models->list[models->count++];
	snprintf(model->name, sizeof model->name, "%s", name);
	model->ttft = ipf_samples_new();
	model->e2e = ipf_samples_new();
	return model->ttft && model->e2e ? model : NULL;
}

/* An absent duration, of a request without such a moment, is no sample. */
static int add(struct ipf_samples *samples, struct ipf_line *row, const char *name, struct ipf_error *err)
{
	int64_t ns;
	int got = ipf_line_integer(row, name, &ns, err);
	return got == 1 ? ipf_samples_add(samples, (double)ns / 1e6) : got;
}

static int add_row(struct models *models, struct ipf_line *row, struct ipf_error *err)
{
	const char *name;
	int ok;
	if (ipf_line_text(row, "model", &name, NULL, err) < 0 || ipf_line_flag(row, "ok", &ok, err) < 0)
		return -1;
	struct model *model = model_of(models, name ? name : "(no model)");
	if (!model)
		return -1;
	model->failed += !ok;
	return ok ? add(model->ttft, row, "ttft_ns", err) | add(model->e2e, row, "e2e_ns", err) : 0;
}

static int measure_all(struct models *models, const char *path, struct ipf_error *err)
{
	struct ipf_reader *records;
	struct ipf_measure *measure = NULL;
	struct ipf_line *row;
	if (ipf_reader_open(&records, path, "records", err) < 0)
		return -1;
	int got = ipf_measure_open(&measure, records, NULL, err);
	while (got >= 0 && (got = ipf_measure_next(measure, &row, err)) == 1)
		got = add_row(models, row, err);
	ipf_measure_close(measure);
	ipf_reader_close(records);
	return got;
}

int main(int argc, char **argv)
{
	struct models models = {.count = 0};
	struct ipf_error err = {0};
	char text[IPF_ERROR_TEXT];
	if (argc != 2) {
		fprintf(stderr, "usage: measure RECORDS\n");
		return 2;
	}
	int status = measure_all(&models, argv[1], &err) < 0 ? 1 : 0;
	if (status)
		fprintf(stderr, "measure: %s\n", err.kind ? ipf_error_describe(&err, text, sizeof text) : "out of memory");
	printf("%-32s %8s %8s %12s %12s %12s\n", "model", "ok", "failed", "TTFT p50 ms", "TTFT p99 ms", "E2E p50 ms");
	for (size_t i = 0; i < models.count; i++) {
		struct model *m = &models.list[i];
		printf("%-32s %8zu %8ld %12.2f %12.2f %12.2f\n", m->name, ipf_samples_count(m->e2e), m->failed,
		       ipf_samples_percentile(m->ttft, 50), ipf_samples_percentile(m->ttft, 99),
		       ipf_samples_percentile(m->e2e, 50));
		ipf_samples_free(m->ttft);
		ipf_samples_free(m->e2e);
	}
	return status;
}
