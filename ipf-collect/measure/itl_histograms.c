#include "measure/itl_histograms.h"

#include "stats/histogram.h"

#include <stdlib.h>
#include <string.h>

/* A histogram takes some hundred kilobytes; no schedule has this many stages. */
#define STAGES_MAX 4096
/* Histograms of models, over all stages. The samples of further models count for their stage only. */
#define MODELS_MAX 1024

struct model_gaps {
	char *model; /* JSON, with its quotes; NULL: no model, or one too many */
	struct histogram *gaps;
};

struct stage_gaps {
	struct model_gaps *models;
	size_t count;
};

struct itl_histograms {
	struct stage_gaps *stages; /* by the stage's number */
	size_t count;
	size_t models; /* of all stages */
};

struct itl_histograms *itl_histograms_new(void)
{
	return calloc(1, sizeof(struct itl_histograms));
}

void itl_histograms_free(struct itl_histograms *itl)
{
	if (!itl)
		return;
	for (size_t i = 0; i < itl->count; i++) {
		for (size_t k = 0; k < itl->stages[i].count; k++) {
			free(itl->stages[i].models[k].model);
			histogram_free(itl->stages[i].models[k].gaps);
		}
		free(itl->stages[i].models);
	}
	free(itl->stages);
	free(itl);
}

static int grow(struct itl_histograms *itl, size_t count, struct ipf_error *err)
{
	struct stage_gaps *more = realloc(itl->stages, count * sizeof(*more));
	if (!more)
		return ipf_error_memory(err);
	itl->stages = more;
	while (itl->count < count)
		more[itl->count++] = (struct stage_gaps){0};
	return 0;
}

static bool is_model(const struct model_gaps *m, struct slice model)
{
	if (!m->model || !model.data)
		return !m->model && !model.data;
	return strlen(m->model) == model.len && memcmp(m->model, model.data, model.len) == 0;
}

static struct histogram *find(const struct stage_gaps *stage, struct slice model)
{
	for (size_t i = 0; i < stage->count; i++)
		if (is_model(&stage->models[i], model))
			return stage->models[i].gaps;
	return NULL;
}

/* The histogram of a model in a stage, made if necessary; NULL: out of memory. */
static struct histogram *histogram_of(struct itl_histograms *itl, struct stage_gaps *stage, struct slice model)
{
	struct histogram *found = find(stage, model);
	if (!found && itl->models >= MODELS_MAX) {
		model = (struct slice){0};
		found = find(stage, model);
	}
	if (found)
		return found;
	struct model_gaps *models = realloc(stage->models, (stage->count + 1) * sizeof(*models));
	if (!models)
		return NULL;
	stage->models = models;
	struct model_gaps *m = &models[stage->count];
	*m = (struct model_gaps){.gaps = histogram_new()};
	if (m->gaps && model.data)
		m->model = strndup(model.data, model.len);
	if (!m->gaps || (model.data && !m->model)) {
		histogram_free(m->gaps);
		return NULL;
	}
	stage->count++;
	itl->models += model.data != NULL;
	return m->gaps;
}

int itl_histograms_add(struct itl_histograms *itl, const struct result *row, const struct itl_sample *samples,
                       size_t count, struct ipf_error *err)
{
	if (!count)
		return 0;
	if (row->stage < 0 || row->stage >= STAGES_MAX)
		return ipf_error_set(err, IPF_INPUT, "stage: expected a number from 0 to %d, got %lld", STAGES_MAX - 1,
		                     (long long)row->stage);
	if ((size_t)row->stage >= itl->count && grow(itl, (size_t)row->stage + 1, err) < 0)
		return -1;
	struct histogram *h = histogram_of(itl, &itl->stages[row->stage], row->model);
	if (!h)
		return ipf_error_memory(err);
	for (size_t i = 0; i < count; i++)
		histogram_add(h, samples[i].value_ns, samples[i].count);
	return 0;
}

static int write_line(size_t stage, const char *model, const struct histogram *gaps, struct stream_writer *writer,
                      struct buffer *line, struct ipf_error *err)
{
	struct buffer value = {0};
	histogram_write(gaps, &value);
	buffer_clear(line);
	buffer_format(line, "{\"histogram\":\"itl_ns\",\"stage\":%zu,", stage);
	if (model) {
		buffer_text(line, "\"model\":");
		buffer_text(line, model);
		buffer_byte(line, ',');
	}
	/* the histogram's own members, without its opening brace */
	if (!value.failed)
		buffer_slice(line, (struct slice){value.data + 1, value.len - 1});
	line->failed |= value.failed;
	buffer_release(&value);
	return stream_writer_line(writer, line, err);
}

static int write_stage(const struct stage_gaps *stage, size_t number, struct stream_writer *writer, struct buffer *line,
                       struct ipf_error *err)
{
	struct histogram *all = histogram_new();
	if (!all)
		return ipf_error_memory(err);
	for (size_t i = 0; i < stage->count; i++)
		histogram_merge(all, stage->models[i].gaps);
	int status = write_line(number, NULL, all, writer, line, err);
	histogram_free(all);
	for (size_t i = 0; i < stage->count && stage->count > 1 && status == 0; i++)
		if (stage->models[i].model)
			status = write_line(number, stage->models[i].model, stage->models[i].gaps, writer, line, err);
	return status;
}

int itl_histograms_write(const struct itl_histograms *itl, struct stream_writer *writer, struct buffer *line,
                         struct ipf_error *err)
{
	int status = 0;
	for (size_t i = 0; i < itl->count && status == 0; i++)
		if (itl->stages[i].count > 0)
			status = write_stage(&itl->stages[i], i, writer, line, err);
	return status;
}
