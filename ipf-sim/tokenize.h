/* POST /tokenize and /detokenize, as vLLM has them. Part of routes.c.
 *
 *     {"prompt": "hello"}, {"messages": […]}   →  {"count": 2, "max_model_len": 131072, "tokens": [1819043176, …]}
 *     {"tokens": [1819043176, …]}              →  {"prompt": "hello"}
 *
 * "return_token_strs": true adds "token_strs"; the parts of a character cut become U+FFFD in it.
 */
#ifndef SIM_TOKENIZE_H
#define SIM_TOKENIZE_H

#include "server.h"

/* The response to the body, in *out. Returns its status; unless that is 200, err says why. */
int tokenize(const struct server_options *options, struct slice body, struct buffer *out, struct ipf_error *err);
int detokenize(const struct server_options *options, struct slice body, struct buffer *out, struct ipf_error *err);

#endif
