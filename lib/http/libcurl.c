#include "http/libcurl.h"

#include <stdlib.h>
#include <string.h>

int libcurl_start(struct ipf_error *err)
{
	if (curl_global_init_mem(CURL_GLOBAL_DEFAULT, malloc, free, realloc, strdup, calloc) == CURLE_OK)
		return 0;
	return ipf_error_set(err, IPF_SYSTEM, "libcurl cannot start");
}

CURLU *libcurl_url(void)
{
	struct ipf_error err = {0};
	return libcurl_start(&err) == 0 ? curl_url() : NULL;
}
