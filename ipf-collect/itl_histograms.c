#include "itl_histograms.h"

#include "json/jout.h"
#include "stats/histogram.h"

#include <stdlib.h>

/* A histogram takes some hundred kilobytes; no schedule has this many stages. */
#define STAGES_MAX 4096

struct itl_histograms {
	struct histogram **stages; /* by the stage's number; NULL: no samples */
	size_t count;
};

struct itl_histograms *itl_histograms_new(void)
{
	return calloc(1, sizeof(struct itl_histograms));
}

void itl_histograms_free(struct itl_histograms *itl)
{
	if (!itl)
		return;
	for (size_t i = 0; i < itl->count; i++)
		histogram_free(itl->stages[i]);
	free(itl->stages);
	free(itl);
}

static int grow(struct itl_histograms *itl, size_t count, struct ipf_error *err)
{
	struct histogram **more = realloc(itl->stages, count * sizeof(*more));
	if (!more)
		return ipf_error_memory(err);
	itl->stages = more;
	while (itl->count < count)
		more[itl->count++] = NULL;
	return 0;
}

int itl_histograms_add(struct itl_histograms *itl, int64_t stage, const struct itl_sample *samples, size_t count,
                       struct ipf_error *err)
{
	if (!count)
		return 0;
	if (stage < 0 || stage >= STAGES_MAX)
		return ipf_error_set(err, IPF_INPUT, "stage: expected a number from 0 to %d, got %lld", STAGES_MAX - 1,
		                     (long long)stage);
	if ((size_t)stage >= itl->count && grow(itl, (size_t)stage + 1, err) < 0)
		return -1;
	struct histogram **h = &itl->stages[stage];
	if (!*h && !(*h = histogram_new()))
		return ipf_error_memory(err);
	for (size_t i = 0; i < count; i++)
		histogram_add(*h, samples[i].value_ns, samples[i].count);
	return 0;
}

int itl_histograms_write(const struct itl_histograms *itl, struct stream_writer *writer, struct buffer *line,
                         struct ipf_error *err)
{
	struct buffer value = {0};
	int status = 0;
	for (size_t i = 0; i < itl->count && status == 0; i++) {
		if (!itl->stages[i])
			continue;
		buffer_clear(&value);
		buffer_clear(line);
		histogram_write(itl->stages[i], &value);
		buffer_format(line, "{\"histogram\":\"itl_ns\",\"stage\":%zu,", i);
		/* the histogram's own members, without its opening brace */
		buffer_slice(line, (struct slice){value.data + 1, value.len - 1});
		line->failed |= value.failed;
		status = stream_writer_line(writer, line, err);
	}
	buffer_release(&value);
	return status;
}
