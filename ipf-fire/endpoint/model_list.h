/* Asks the server which models it has, for a run without --model.
 *
 *     switch (model_list_only(&endpoint, &options, &model, why, &err)) {
 *     case 1: …     // `model` is the only one
 *     case 0: …     // `why` says why the server could not tell
 */
#ifndef IPF_MODEL_LIST_H
#define IPF_MODEL_LIST_H

#include "api/api.h"
#include "endpoint/endpoint.h"
#include "endpoint/network_path.h"

struct model_list_options {
	const struct api *api;                           /* has a path listing models (api_models_path) */
	const struct endpoint_options *endpoint_options; /* given at the opening of the endpoint */
	const struct network_path *network_path;
	enum http_version http;
};

#define MODEL_LIST_WHY 200

/* 1: all targets have the same single model, *model (the caller frees it). 0: no target lists its models, for the
 * reason `why`. -1: IPF_USAGE with the models if there are several or none, or out of memory. A target listing nothing
 * is left out if another one does. A request takes at most 5 s, and at most 1 MiB of a response is read. */
int model_list_only(const struct endpoint *e, const struct model_list_options *options, char **model,
                    char why[MODEL_LIST_WHY], struct ipf_error *err);

#endif
