#include "gap_histograms.h"

#include "stats/histogram.h"
#include "json/jout.h"

#include <stdlib.h>

/* A histogram takes some hundred kilobytes; no schedule has as many stages as this. */
#define STAGES_MAX 4096

struct gap_histograms {
	struct histogram **stages; /* by the stage's number; NULL where it has no samples */
	size_t count;
};

struct gap_histograms *gap_histograms_new(void)
{
	return calloc(1, sizeof(struct gap_histograms));
}

void gap_histograms_free(struct gap_histograms *tally)
{
	if (!tally)
		return;
	for (size_t i = 0; i < tally->count; i++)
		histogram_free(tally->stages[i]);
	free(tally->stages);
	free(tally);
}

static int grow(struct gap_histograms *tally, size_t count, struct ipf_error *err)
{
	struct histogram **more = realloc(tally->stages, count * sizeof(*more));
	if (!more)
		return ipf_error_memory(err);
	tally->stages = more;
	while (tally->count < count)
		more[tally->count++] = NULL;
	return 0;
}

int gap_histograms_add(struct gap_histograms *tally, int64_t stage, const struct itl_sample *samples, size_t count,
                       struct ipf_error *err)
{
	if (!count)
		return 0;
	if (stage < 0 || stage >= STAGES_MAX)
		return ipf_error_set(err, IPF_INPUT, "stage: expected a number below %d, got %lld", STAGES_MAX,
		                     (long long)stage);
	if ((size_t)stage >= tally->count && grow(tally, (size_t)stage + 1, err) < 0)
		return -1;
	struct histogram **h = &tally->stages[stage];
	if (!*h && !(*h = histogram_new()))
		return ipf_error_memory(err);
	for (size_t i = 0; i < count; i++)
		histogram_add(*h, samples[i].value_ns, samples[i].count);
	return 0;
}

int gap_histograms_write(const struct gap_histograms *tally, struct stream_writer *writer, struct buffer *line,
                         struct ipf_error *err)
{
	struct buffer value = {0};
	int status = 0;
	for (size_t i = 0; i < tally->count && status == 0; i++) {
		if (!tally->stages[i])
			continue;
		buffer_clear(&value);
		buffer_clear(line);
		histogram_write(tally->stages[i], &value);
		buffer_format(line, "{\"histogram\":\"itl_ns\",\"stage\":%zu,", i);
		/* the histogram's own members, less the brace that opens them */
		buffer_slice(line, (struct slice){value.data + 1, value.len - 1});
		line->failed |= value.failed;
		status = stream_writer_line(writer, line, err);
	}
	buffer_release(&value);
	return status;
}
