/* A model of traffic is refused with a reason; or its output is a model again (of rounded shares, so not the same
 * text), and a trace can hold requests drawn of it. The first byte seeds the draws. */
#define FUZZ_JSON_LINES
#include "fuzz_input.h"

#include "absent.h"
#include "model/traffic_draw.h"
#include "model/traffic_model.h"

static void write_model(const struct traffic_model *model, struct buffer *text)
{
	struct ipf_error err = {0};
	json_t *header = json_pack("{s:s, s:i}", "ipf", "traffic-model", "version", 1);
	must(traffic_model_text(model, header, text, &err) == 0);
}

static void draw_some(struct slice text, uint8_t seed)
{
	struct traffic_mix mix = {0};
	struct traffic_draw *draw = NULL;
	struct draft draft = {0};
	struct ipf_error err = {0};
	must(traffic_mix_parse(&mix, "m", &err) == 0 && traffic_mix_add(&mix, 0, text, &err) == 0);
	must(traffic_draw_new(&draw, &mix, 1, seed, &err) == 0);
	for (int i = 0; i < 20; i++) {
		draft_reset(&draft);
		if (traffic_draw_next(draw, &draft, 8, &err) < 0) {
			must_explain(&err);
			break;
		}
		must(draft.count >= 1 && draft.count <= 8);
		for (size_t k = 0; k < draft.count; k++) {
			const struct draft_request *r = &draft.requests[k];
			must(r->input_tokens >= 0 && r->output_tokens >= 0 && (r->wait_ns == IPF_ABSENT || r->wait_ns >= 0) &&
			     (r->at_ns == IPF_ABSENT || r->at_ns >= 0));
		}
	}
	draft_release(&draft);
	traffic_draw_free(draw);
	traffic_mix_release(&mix);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct traffic_model *model = NULL, *again = NULL;
	struct ipf_error err = {0};
	struct buffer text = {0};
	if (size == 0)
		return 0;
	struct slice given = {(const char *)data + 1, size - 1};
	(void)traffic_model_is(given);
	if (traffic_model_parse(&model, "fuzz", given, &err) < 0) {
		must_explain(&err);
	} else {
		write_model(model, &text);
		must(traffic_model_parse(&again, "again", buffer_all(&text), &err) == 0);
		draw_some(given, data[0]);
	}
	free(model);
	free(again);
	buffer_release(&text);
	return 0;
}
