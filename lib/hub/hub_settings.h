/* The environment's settings for the Hugging Face hub; the same variables as for the hub's own clients:
 *
 *     HF_ENDPOINT          the hub's address (default https://huggingface.co)
 *     HF_HUB_CACHE         the cache (default $HF_HOME/hub; HF_HOME is ~/.cache/huggingface by default)
 *     HF_TOKEN             an access token; else the file HF_TOKEN_PATH (default $HF_HOME/token)
 *     HF_HUB_DISABLE_IMPLICIT_TOKEN  not the file
 *     HF_HUB_OFFLINE, TRANSFORMERS_OFFLINE  ask no server
 */
#ifndef IPF_HUB_SETTINGS_H
#define IPF_HUB_SETTINGS_H

#include "error.h"

#include <stdbool.h>

struct hub_settings {
	char *endpoint; /* without a slash at its end */
	char *cache;
	char *token;         /* NULL: none */
	char *token_from;    /* "HF_TOKEN", or the file */
	const char *offline; /* the variable saying so; NULL: none */
};

/* -1: IPF_SYSTEM if there is no place for the cache, IPF_USAGE for a token that is none. */
int hub_settings_read(struct hub_settings *settings, struct ipf_error *err);
void hub_settings_release(struct hub_settings *settings);

#endif
