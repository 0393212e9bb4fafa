/* sagemaker-capture: requests recorded by Amazon SageMaker's Data Capture at an endpoint.
 *
 * Origin: docs.aws.amazon.com/sagemaker/latest/dg/model-monitor-data-capture-endpoint.html (eventVersion 0), JSON Lines
 * in the bucket at ENDPOINT/VARIANT/YYYY/MM/DD/HH:
 *
 *     captureData.endpointInput, .endpointOutput   data, and its encoding: JSON, CSV or BASE64
 *     eventMetadata.inferenceTime                  the arrival, in whole seconds
 *
 * Two bodies are read: those of the chat and completions API, and of the containers for text generation (TGI, DJL):
 *
 *     {"inputs": "…", "parameters": {"max_new_tokens": …}}
 *     [{"generated_text": "…", "details": {"generated_tokens": …, "prefill": […]}}]   or the object alone
 *
 * Sessions and failed requests are not captured, nor are the answers of response streams.
 */
#include "absent.h"
#include "base64.h"
#include "clock.h"
#include "sources/api_bodies.h"
#include "sources/record_fields.h"

/* Parses the body of one side: 1; 0 if it was not captured, or is no JSON; -1. Its texts are valid as long as the
 * draft's. */
static int parse_body(struct draft *d, const struct jdoc *j, const char *side, struct jdoc *body, struct ipf_error *err)
{
	jdoc_id captured = jdoc_get(j, jdoc_get(j, JDOC_ROOT, "captureData"), side), data = jdoc_get(j, captured, "data");
	struct ipf_error ignored = {0};
	struct slice text = draft_text(d, j, data);
	if (jdoc_is_null(j, data))
		return 0;
	if (jdoc_type_of(j, data) != JDOC_TEXT)
		return jdoc_expected(j, data, side, "data as a string", err);
	if (jdoc_text_is(j, jdoc_get(j, captured, "encoding"), "BASE64")) {
		struct buffer bytes = {0};
		if (base64_decode(text, &bytes) < 0) {
			buffer_release(&bytes);
			return jdoc_expected(j, data, side, "data in base64, as its encoding says", err);
		}
		text = draft_take_buffer(d, &bytes);
	}
	if (!text.data || jdoc_parse(body, text.data, text.len, &ignored) < 0)
		return 0;
	put_on_one_line(text);
	return 1;
}

/* The request of a container for text generation: 1; 0 if it has no prompt; -1. */
static int read_inputs(struct draft *d, const struct jdoc *j, struct ipf_error *err)
{
	jdoc_id inputs = jdoc_get(j, JDOC_ROOT, "inputs"), parameters = jdoc_get(j, JDOC_ROOT, "parameters");
	if (jdoc_text_empty(j, inputs))
		return 0;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 1;
	draft_message(d, ROLE_USER, draft_text(d, j, inputs));
	return field_tokens(j, parameters, "max_new_tokens", &r->output_tokens, err) < 0 ? -1 : 1;
}

static int read_generated(struct draft *d, const struct jdoc *j, jdoc_id answer, struct draft_request *r,
                          struct ipf_error *err)
{
	jdoc_id details = jdoc_get(j, answer, "details"), prefill = jdoc_get(j, details, "prefill");
	if (field_tokens(j, details, "generated_tokens", &r->output_tokens, err) < 0)
		return -1;
	if (jdoc_type_of(j, prefill) == JDOC_LIST && jdoc_count(j, prefill) > 0)
		r->input_tokens = jdoc_count(j, prefill);
	r->answer = draft_text(d, j, jdoc_get(j, answer, "generated_text"));
	return 0;
}

static int read_bodies(struct time_origin *origin, const struct jdoc *j, struct jdoc bodies[2], struct sink *sink,
                       struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	struct jdoc *asked = &bodies[0], *answer = &bodies[1];
	int64_t ns;
	if (need_time(j, jdoc_get(j, JDOC_ROOT, "eventMetadata"), "inferenceTime", NS_PER_S, &ns, err) < 0)
		return -1;
	int got = parse_body(d, j, "endpointInput", asked, err), answered = parse_body(d, j, "endpointOutput", answer, err);
	if (got < 0 || answered < 0)
		return -1;
	if (got > 0 && jdoc_type_of(asked, JDOC_ROOT) != JDOC_MAP)
		got = 0;
	if (got > 0)
		got = jdoc_get(asked, JDOC_ROOT, "inputs") != JDOC_NONE ? read_inputs(d, asked, err)
		                                                        : api_request_body(d, asked, JDOC_ROOT, err);
	if (got == 0)
		sink->unusable(sink, "no chat, completion or text generation");
	if (got <= 0 || d->failed)
		return got < 0 ? -1 : 0;
	struct draft_request *r = &d->requests[0];
	jdoc_id generated = jdoc_type_of(answer, JDOC_ROOT) == JDOC_LIST ? jdoc_at(answer, JDOC_ROOT, 0) : JDOC_ROOT;
	if (answered > 0 && (jdoc_get(answer, generated, "generated_text") != JDOC_NONE
	                         ? read_generated(d, answer, generated, r, err)
	                         : api_response_body(d, answer, generated, r, err)) < 0)
		return -1;
	r->at_ns = since_origin(origin, ns);
	return sink->take(sink, d, err);
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct jdoc bodies[2] = {0};
	if (need_object(record->json, JDOC_ROOT, "record", err) < 0)
		return -1;
	jdoc_watch(&bodies[0]);
	int status = read_bodies(opened, record->json, bodies, sink, err);
	record_notes_members(sink->notes, "/captureData/endpointInput/data", &bodies[0]);
	jdoc_release(&bodies[0]);
	jdoc_release(&bodies[1]);
	return status;
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_members(sniff, "captureData eventMetadata");
}

const struct source_format source_sagemaker_capture = {
	.name = "sagemaker-capture",
	.about = "requests recorded by Amazon SageMaker's Data Capture (JSON Lines)",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_TIMES | GATHERS,
	.state_size = sizeof(struct time_origin),
	.read_record = read_record,
	.recognises = recognises,
};
