#include "measure/itl_histograms.h"

#include "array.h"
#include "series/itl_positions.h"
#include "stats/histogram.h"

#include <stdlib.h>
#include <string.h>

/* A histogram takes some hundred kilobytes; no schedule has this many stages. */
#define STAGES_MAX 4096
/* Histograms of models, over all stages. The samples of further models count for their stage only. */
#define MODELS_MAX 1024

struct model_gaps {
	char *model;              /* JSON, with its quotes; NULL: no model, or one too many */
	struct histogram *sure;   /* samples as measured … */
	struct histogram *unsure; /* … and samples of uncertain length */
};

struct stage_gaps {
	struct model_gaps *models;
	size_t count;
	struct histogram *low, *high; /* bounds for the unsure samples of all models: the least and the most each can be */
};

struct itl_histograms {
	struct stage_gaps *stages; /* by the stage's number */
	size_t count;
	size_t models; /* all stages together */
	struct itl_positions *positions;
};

struct itl_histograms *itl_histograms_new(void)
{
	struct itl_histograms *itl = calloc(1, sizeof *itl);
	if (itl && !(itl->positions = itl_positions_new())) {
		free(itl);
		itl = NULL;
	}
	return itl;
}

void itl_histograms_free(struct itl_histograms *itl)
{
	if (!itl)
		return;
	for (size_t i = 0; i < itl->count; i++) {
		for (size_t k = 0; k < itl->stages[i].count; k++) {
			free(itl->stages[i].models[k].model);
			histogram_free(itl->stages[i].models[k].sure);
			histogram_free(itl->stages[i].models[k].unsure);
		}
		histogram_free(itl->stages[i].low);
		histogram_free(itl->stages[i].high);
		free(itl->stages[i].models);
	}
	free(itl->stages);
	itl_positions_free(itl->positions);
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

static struct model_gaps *find(const struct stage_gaps *stage, struct slice model)
{
	for (size_t i = 0; i < stage->count; i++)
		if (is_model(&stage->models[i], model))
			return &stage->models[i];
	return NULL;
}

static bool make_histogram(struct histogram **h)
{
	return *h || (*h = histogram_new());
}

/* The histograms of a model in a stage, made if necessary; NULL: out of memory. */
static struct model_gaps *model_of(struct itl_histograms *itl, struct stage_gaps *stage, struct slice model)
{
	struct model_gaps *found = find(stage, model);
	if (!found && itl->models >= MODELS_MAX) {
		model = (struct slice){0};
		found = find(stage, model);
	}
	if (found)
		return found;
	if (!array_one_more(stage->models, stage->count))
		return NULL;
	struct model_gaps *m = &stage->models[stage->count];
	*m = (struct model_gaps){.model = model.data ? strndup(model.data, model.len) : NULL};
	if (!make_histogram(&m->sure) || (model.data && !m->model)) {
		histogram_free(m->sure);
		free(m->model);
		return NULL;
	}
	stage->count++;
	itl->models += model.data != NULL;
	return m;
}

static bool add_unsure(struct stage_gaps *stage, struct model_gaps *model, const struct itl_sample *sample)
{
	if (!make_histogram(&model->unsure) || !make_histogram(&stage->low) || !make_histogram(&stage->high))
		return false;
	histogram_add(model->unsure, sample->value_ns, sample->count);
	histogram_add(stage->low, sample->low_ns, sample->count);
	histogram_add(stage->high, sample->high_ns, sample->count);
	return true;
}

static bool add_positions(struct itl_positions *positions, int64_t stage, const struct measure *m)
{
	int64_t position = 1;
	for (size_t i = 0; i < m->samples_count; i++) {
		const struct itl_sample *sample = &m->samples[i];
		if (itl_positions_add(positions, stage, position, sample->value_ns, sample->count) < 0)
			return false;
		position += sample->count;
	}
	return true;
}

int itl_histograms_add(struct itl_histograms *itl, const struct result *row, const struct measure *m,
                       struct ipf_error *err)
{
	const struct itl_sample *samples = m->samples;
	if (!m->samples_count)
		return 0;
	if (row->stage < 0 || row->stage >= STAGES_MAX)
		return ipf_error_set(err, IPF_INPUT, "stage: expected a number from 0 to %d, got %lld", STAGES_MAX - 1,
		                     (long long)row->stage);
	if ((size_t)row->stage >= itl->count && grow(itl, (size_t)row->stage + 1, err) < 0)
		return -1;
	struct stage_gaps *stage = &itl->stages[row->stage];
	struct model_gaps *model = model_of(itl, stage, row->model);
	bool ok = model && (m->samples_are_means || add_positions(itl->positions, row->stage, m));
	for (size_t i = 0; i < m->samples_count && ok; i++)
		if (samples[i].low_ns >= samples[i].value_ns && samples[i].high_ns <= samples[i].value_ns)
			histogram_add(model->sure, samples[i].value_ns, samples[i].count);
		else
			ok = add_unsure(stage, model, &samples[i]);
	return ok ? 0 : ipf_error_memory(err);
}

/* Values common to the lines of a stage. */
struct line_output {
	size_t stage;
	struct stream_writer *writer;
	struct buffer *line;
};

static int write_line(const struct line_output *out, const char *name, const char *model, const struct histogram *gaps,
                      struct ipf_error *err)
{
	struct buffer *line = out->line;
	buffer_clear(line);
	buffer_format(line, "{\"histogram\":\"%s\",\"stage\":%zu,", name, out->stage);
	if (model) {
		buffer_text(line, "\"model\":");
		buffer_text(line, model);
		buffer_byte(line, ',');
	}
	histogram_write_members(gaps, line);
	return stream_writer_line(out->writer, line, err);
}

/* Writes the sum of two histograms, of which the second may be absent. */
static int write_sum(const struct line_output *out, const char *name, const char *model,
                     const struct histogram *parts[2], struct ipf_error *err)
{
	struct histogram *sum = histogram_new();
	if (!sum)
		return ipf_error_memory(err);
	for (int i = 0; i < 2; i++)
		if (parts[i])
			histogram_merge(sum, parts[i]);
	int status = write_line(out, name, model, sum, err);
	histogram_free(sum);
	return status;
}

static int write_stage(const struct stage_gaps *stage, const struct line_output *out, struct ipf_error *err)
{
	struct histogram *sure = histogram_new(), *unsure = histogram_new();
	for (size_t i = 0; i < stage->count && sure && unsure; i++) {
		histogram_merge(sure, stage->models[i].sure);
		if (stage->models[i].unsure)
			histogram_merge(unsure, stage->models[i].unsure);
	}
	int status = sure && unsure ? 0 : ipf_error_memory(err);
	if (status == 0)
		status = write_sum(out, "itl_ns", NULL, (const struct histogram *[]){sure, unsure}, err);
	if (status == 0)
		status = write_sum(out, "itl_low_ns", NULL, (const struct histogram *[]){sure, stage->low}, err);
	if (status == 0)
		status = write_sum(out, "itl_high_ns", NULL, (const struct histogram *[]){sure, stage->high}, err);
	histogram_free(sure);
	histogram_free(unsure);
	for (size_t i = 0; i < stage->count && stage->count > 1 && status == 0; i++) {
		const struct model_gaps *m = &stage->models[i];
		if (m->model)
			status = write_sum(out, "itl_ns", m->model, (const struct histogram *[]){m->sure, m->unsure}, err);
	}
	return status;
}

static int write_positions(const struct itl_positions *positions, const struct line_output *out, struct ipf_error *err)
{
	int status = 0;
	for (int bin = 0; bin < ITL_POSITION_BINS && status == 0; bin++) {
		if (!itl_positions_get(positions, out->stage, bin))
			continue;
		buffer_clear(out->line);
		itl_positions_write(positions, out->stage, bin, out->line);
		status = stream_writer_line(out->writer, out->line, err);
	}
	return status;
}

int itl_histograms_write(const struct itl_histograms *itl, struct stream_writer *writer, struct buffer *line,
                         struct ipf_error *err)
{
	int status = 0;
	for (size_t i = 0; i < itl->count && status == 0; i++) {
		const struct line_output out = {i, writer, line};
		if (itl->stages[i].count > 0)
			status = write_stage(&itl->stages[i], &out, err);
		if (status == 0)
			status = write_positions(itl->positions, &out, err);
	}
	return status;
}
