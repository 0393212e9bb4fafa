/* A model of recorded traffic: all needed to make any amount of traffic of this kind, without its texts.
 *
 *     struct traffic_fit *fit = traffic_fit_new();
 *     traffic_fit_add(fit, &request, &err);                 // for each request of a trace, or of a source
 *     traffic_fit_end(fit, &model, &err);
 *     traffic_model_write(&model, path, provenance, &err);
 *
 *     struct traffic_model *model;
 *     traffic_model_read(&model, path, &err);
 *
 * ipf-model(5) describes the file.
 */
#ifndef PREP_TRAFFIC_MODEL_H
#define PREP_TRAFFIC_MODEL_H

#include "model/arrival_model.h"
#include "model/length_model.h"
#include "model/reuse_model.h"
#include "model/traffic_figures.h"

enum { TRAFFIC_NAMES = 32, TRAFFIC_NAME_BYTES = 128 };

/* Names in shares. */
struct traffic_names {
	struct traffic_name {
		char name[TRAFFIC_NAME_BYTES];
		double share; /* all requests together */
	} items[TRAFFIC_NAMES];
	int count;
};

struct traffic_model {
	int64_t requests;
	int64_t starts;                         /* sessions, and requests without one */
	double session_share;                   /* sessions' share of the starts */
	double wait_share;                      /* later turns with a recorded wait */
	double gap_share;                       /* later turns with a recorded arrival */
	struct quantile_table turns, wait, gap; /* waits and gaps in seconds */
	struct arrival_model arrivals;
	struct length_model lengths;
	struct reuse_model prefixes;
	struct traffic_names models;
	struct traffic_names recorded; /* the service recorded's: the tag "model" */
	double hang_up_share;          /* requests whose client disconnected */
	struct quantile_table hang_up; /* how long after the start, in seconds */
	double failed;                 /* share of requests failing although they have an answer */
	double tool_share, tools;      /* requests with tools, and how many they offer on average */
	struct traffic_figures figures;
};

struct traffic_fit;

struct traffic_fit *traffic_fit_new(void); /* NULL: out of memory */
/* -1: IPF_INPUT, or out of memory. */
int traffic_fit_add(struct traffic_fit *fit, const struct trace_request *request, struct ipf_error *err);
/* -1: IPF_INPUT if there is too little to learn from: no request with both lengths. */
int traffic_fit_end(struct traffic_fit *fit, struct traffic_model *model, struct ipf_error *err);
void traffic_fit_free(struct traffic_fit *fit); /* NULL is fine */

/* Appends the file's text to `text`: a header with these members (taken over), then a line for each list. */
int traffic_model_text(const struct traffic_model *model, json_t *header, struct buffer *text, struct ipf_error *err);
/* Makes a model of the text of the file `path`: free() it. -1: IPF_INPUT names the place of the fault. */
int traffic_model_parse(struct traffic_model **model, const char *path, struct slice text, struct ipf_error *err);
/* Reads a file, which may be compressed. */
int traffic_model_read(struct traffic_model **model, const char *path, struct ipf_error *err);
/* Whether a text begins like a model's file. */
bool traffic_model_is(struct slice text);

#endif
