/* A trace as a picture: arrivals over time, the gaps between them, how long prompts and answers are, what prompts share. */
#ifndef PREP_PICTURE_H
#define PREP_PICTURE_H

#include "error.h"
#include "reuse.h"
#include "stats.h"

struct picture {
	struct samples *at;      /* s, sorted; may be empty */
	struct samples *input, *output; /* tokens, sorted */
	struct reuse *sharing;   /* reckoned */
};

/* To `path`, .png or .svg. 1; 0: gnuplot is not installed; -1. */
int picture_draw(const struct picture *picture, const char *path, struct ipf_error *err);

#endif
