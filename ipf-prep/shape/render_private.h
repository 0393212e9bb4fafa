/* What trace_renderer.c and render_text.c have of each other. */
#ifndef PREP_RENDER_PRIVATE_H
#define PREP_RENDER_PRIVATE_H

#include "shape/trace_renderer.h"
#include "stats/rng.h"

/* A generator for one decision about one request. */
struct rng renderer_chance(const struct renderer *r, const char *what, const struct draft *d, size_t turn);
/* The blocks of a prompt; those of copies are to be found among copies only. */
struct draft_blocks renderer_blocks(struct renderer *r, const struct draft *d, const struct draft_request *request);
/* Text of exactly `count` tokens, good until the next one is made. */
struct slice renderer_text(struct renderer *r, const struct draft *d, size_t turn, const struct draft_request *request,
                           int64_t count);

#endif
