/* Draws traffic from models: one after another, the sessions and requests of `ipf-prep synthetic --like`.
 *
 *     struct traffic_mix mix = {0};
 *     traffic_mix_parse(&mix, "chat.json=0.7,code.json=0.3", &err);
 *     for (size_t i = 0; i < mix.files.count; i++)
 *         traffic_mix_add(&mix, i, text_of(mix.files.items[i].name), &err);
 *     struct traffic_draw *draw;
 *     traffic_draw_new(&draw, &mix, scale, seed, &err);
 *     traffic_draw_next(draw, &draft, most, &err);
 *     traffic_draw_free(draw);
 *     traffic_mix_release(&mix);
 *
 * A mixture has shares of the requests. Its rate is the mean of the models' rates, weighted by their shares. It has
 * arrivals only if all of its models have. Prompts of different models share no blocks.
 */
#ifndef PREP_TRAFFIC_DRAW_H
#define PREP_TRAFFIC_DRAW_H

#include "draft/draft.h"
#include "draft/share_list.h"
#include "model/traffic_model.h"

enum { TRAFFIC_MODELS = 16 };

/* Zero-initialise. */
struct traffic_mix {
	struct share_list files;
	struct traffic_model *models[TRAFFIC_MODELS];
	double shares[TRAFFIC_MODELS]; /* shares; the sum is 1 */
	int count;
};

/* Parses FILE or FILE=SHARE,FILE=SHARE,… -1: IPF_USAGE. Release the mix also after an error. */
int traffic_mix_parse(struct traffic_mix *mix, const char *list, struct ipf_error *err);
/* Adds the model in the text of a file; of a share of 0 it is only checked. Errors as of traffic_model_parse. */
int traffic_mix_add(struct traffic_mix *mix, size_t file, struct slice text, struct ipf_error *err);
bool traffic_mix_has_arrivals(const struct traffic_mix *mix);
/* Requests of the data of all models. */
int64_t traffic_mix_requests(const struct traffic_mix *mix);
void traffic_mix_release(struct traffic_mix *mix);

struct traffic_draw;

/* `scale` times the rate. The mix is borrowed. -1: out of memory. */
int traffic_draw_new(struct traffic_draw **draw, const struct traffic_mix *mix, double scale, uint64_t seed,
                     struct ipf_error *err);
/* Makes the next session or request, of at most `most` turns, in order of arrival. The draft is empty, with its number
 * set. */
int traffic_draw_next(struct traffic_draw *draw, struct draft *draft, int64_t most, struct ipf_error *err);
void traffic_draw_free(struct traffic_draw *draw); /* NULL is fine */

#endif
