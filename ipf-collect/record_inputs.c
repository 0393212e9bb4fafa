#include "record_inputs.h"

#include "absent.h"
#include "cli/interrupt.h"
#include "stream/fields.h"
#include "stream/observed.h"

#include <stdlib.h>

int record_input_open_api(struct record_reader *records, const char *requested, struct api **api, struct ipf_error *err)
{
	struct stream_reader *stream = record_reader_stream(records);
	json_t *descriptor = json_object_get(stream_reader_header(stream), "api");
	if (requested)
		return api_open(api, requested, err);
	if (json_is_object(descriptor))
		return api_from_records(api, descriptor, stream_reader_name(stream), err);
	return ipf_error_at(err, IPF_INPUT, stream_reader_name(stream), 1,
	                    "api: the header has no API descriptor; give one with --api");
}

/* The further ones of the header; with --api, all records are read with that one. */
static int open_others(struct record_input *input, const char *requested, struct ipf_error *err)
{
	struct stream_reader *stream = record_reader_stream(input->reader);
	json_t *list = json_object_get(stream_reader_header(stream), "apis");
	const size_t count = json_array_size(list);
	if (requested || count < 2)
		return 0;
	input->others = calloc(count - 1, sizeof *input->others);
	if (!input->others)
		return ipf_error_memory(err);
	for (; input->others_count + 1 < count; input->others_count++)
		if (api_from_records(&input->others[input->others_count], json_array_get(list, input->others_count + 1),
		                     stream_reader_name(stream), err) < 0)
			return -1;
	return 0;
}

const struct api *record_input_api(const struct record_input *input, const struct record *record)
{
	const bool other = record->api > 0 && record->api <= (int64_t)input->others_count;
	return other ? input->others[record->api - 1] : input->api;
}

static int read_schedule(struct record_input *input, struct ipf_error *err)
{
	struct stream_reader *stream = record_reader_stream(input->reader);
	json_t *header = schedule_find_header(stream_reader_header(stream));
	return header ? schedule_from_header(&input->schedule, header, stream_reader_name(stream), err) : 0;
}

/* All were observed, or none. */
static int check_observed(struct record_inputs *inputs, struct ipf_error *err)
{
	struct stream_reader *last = record_reader_stream(inputs->list[inputs->count - 1].reader);
	json_t *observed = observed_find(stream_reader_header(last));
	if (inputs->count == 1)
		inputs->observed = observed;
	if (!observed == !inputs->observed)
		return 0;
	return ipf_error_at(err, IPF_INPUT, stream_reader_name(last), 0, "was %s, and %s was not: they are not one run",
	                    observed ? "observed in a capture" : "made by a client",
	                    stream_reader_name(record_reader_stream(inputs->list[0].reader)));
}

/* The header has the run's start to the nanosecond, so records with equal headers are of the same run. */
static int check_same_run(const struct record_inputs *inputs, struct ipf_error *err)
{
	struct stream_reader *last = record_reader_stream(inputs->list[inputs->count - 1].reader);
	json_t *header = stream_reader_header(last);
	for (size_t i = 0; json_object_get(header, "t0_unix_ns") && i + 1 < inputs->count; i++) {
		struct stream_reader *other = record_reader_stream(inputs->list[i].reader);
		if (json_equal(header, stream_reader_header(other)))
			return ipf_error_at(err, IPF_INPUT, stream_reader_name(last), 0,
			                    "the same run as in %s; its requests would count twice", stream_reader_name(other));
	}
	return 0;
}

static int add_shard(struct record_inputs *inputs, const struct record_input *input, struct ipf_error *err)
{
	struct stream_reader *stream = record_reader_stream(input->reader);
	return shard_set_add(&inputs->shards, stream_reader_header(stream), stream_reader_name(stream), err);
}

/* All are measured, or all are predicted by the same twin. */
static int check_predicted(struct record_inputs *inputs, struct ipf_error *err)
{
	struct stream_reader *first = record_reader_stream(inputs->list[0].reader),
						 *last = record_reader_stream(inputs->list[inputs->count - 1].reader);
	json_t *predicted = predicted_find(stream_reader_header(last));
	if (inputs->count == 1)
		inputs->predicted = predicted;
	return predicted_check((struct predicted_stream){stream_reader_name(first), inputs->predicted},
	                       (struct predicted_stream){stream_reader_name(last), predicted}, err);
}

/* IPF_ABSENT: not known, or nonsense. */
static int64_t start_of(const struct record_input *input)
{
	json_t *t0 = json_object_get(stream_reader_header(record_reader_stream(input->reader)), "t0_unix_ns");
	return json_is_integer(t0) && json_integer_value(t0) >= 0 && json_integer_value(t0) <= FIELD_INT_MAX
	           ? (int64_t)json_integer_value(t0)
	           : IPF_ABSENT;
}

/* The requests a later part sends again are the later part's. */
static int drop_restarted(struct record_inputs *inputs, size_t part, struct ipf_error *err)
{
	json_t *restarted = json_object_get(inputs->list[part].continues, "restarted"), *n;
	size_t k;
	json_array_foreach(restarted, k, n) for (size_t i = 0; i < part; i++) if (json_integer_value(n) >= 0)
		seen_numbers_add(&inputs->list[i].restarted, json_integer_value(n));
	for (size_t i = 0; i < part; i++)
		if (inputs->list[i].restarted.failed)
			return ipf_error_memory(err);
	return 0;
}

/* The parts of a continued run: the first one, then those continuing it. */
static int find_continued(struct record_inputs *inputs, struct ipf_error *err)
{
	json_t *t0 = json_object_get(stream_reader_header(record_reader_stream(inputs->list[0].reader)), "t0_unix_ns");
	for (size_t i = 0; i < inputs->count; i++) {
		struct stream_reader *stream = record_reader_stream(inputs->list[i].reader);
		json_t *continues = json_object_get(stream_reader_header(stream), "continues");
		inputs->list[i].continues = continues;
		if (i == 0 || (!continues && !inputs->continued && !inputs->list[0].continues))
			continue;
		if (!continues || inputs->list[0].continues || !json_equal(json_object_get(continues, "t0_unix_ns"), t0))
			return ipf_error_at(
				err, IPF_INPUT, stream_reader_name(stream), 0,
				"does not continue the run of %s: expected its first records, then those that continue it",
				stream_reader_name(record_reader_stream(inputs->list[0].reader)));
		inputs->continued = true;
		if (drop_restarted(inputs, i, err) < 0)
			return -1;
	}
	return 0;
}

/* With an unknown start, no client can be placed before or after another. */
static void place_in_time(struct record_inputs *inputs)
{
	int64_t first = IPF_ABSENT;
	if (inputs->predicted)
		return; /* each begins at 0 of its virtual time */
	for (size_t i = 0; i < inputs->count; i++) {
		int64_t t0_ns = start_of(&inputs->list[i]);
		if (t0_ns == IPF_ABSENT)
			return;
		first = i == 0 || t0_ns < first ? t0_ns : first;
	}
	inputs->t0_unix_ns = first;
	if (inputs->continued) /* the times of the parts follow each other */
		return;
	for (size_t i = 0; i < inputs->count; i++)
		inputs->list[i].offset_ns = start_of(&inputs->list[i]) - first;
}

int record_inputs_open(struct record_inputs *inputs, const char *api, const struct operands *records,
                       struct ipf_error *err)
{
	size_t count = records->count ? (size_t)records->count : 1;
	*inputs = (struct record_inputs){.t0_unix_ns = IPF_ABSENT};
	inputs->list = calloc(count, sizeof *inputs->list);
	if (!inputs->list)
		return ipf_error_memory(err);
	while (inputs->count < count) {
		struct record_input *input = &inputs->list[inputs->count];
		int fd;
		if (record_reader_open(&input->reader, records->count ? records->items[inputs->count] : NULL, err) < 0)
			return -1;
		inputs->count++;
		stream_reader_ready(record_reader_stream(input->reader), &fd);
		inputs->live |= input_is_live(fd);
		if (check_same_run(inputs, err) < 0 || check_predicted(inputs, err) < 0 || check_observed(inputs, err) < 0 ||
		    add_shard(inputs, input, err) < 0 || record_input_open_api(input->reader, api, &input->api, err) < 0 ||
		    open_others(input, api, err) < 0 || read_schedule(input, err) < 0)
			return -1;
	}
	if (find_continued(inputs, err) < 0)
		return -1;
	place_in_time(inputs);
	return 0;
}

void record_inputs_release(struct record_inputs *inputs)
{
	for (size_t i = 0; i < inputs->count; i++) {
		record_reader_close(inputs->list[i].reader);
		api_close(inputs->list[i].api);
		for (size_t k = 0; k < inputs->list[i].others_count; k++)
			api_close(inputs->list[i].others[k]);
		free(inputs->list[i].others);
		schedule_release(&inputs->list[i].schedule);
		seen_numbers_release(&inputs->list[i].restarted);
	}
	free(inputs->list);
	shard_set_release(&inputs->shards);
}
