#include "http/libcurl.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

int libcurl_start(struct ipf_error *err)
{
	if (curl_global_init_mem(CURL_GLOBAL_DEFAULT, malloc, free, realloc, strdup, calloc) == CURLE_OK)
		return 0;
	return ipf_error_set(err, IPF_SYSTEM, "libcurl cannot start");
}

const char *libcurl_why(CURLcode code, const char *said)
{
	/* libcurl 7.88 names its own limits so, too; memory.h knows whether memory ran out */
	if (code == CURLE_OUT_OF_MEMORY && !memory_ran_out())
		return "a line of the response is too long";
	return said && *said ? said : curl_easy_strerror(code);
}

CURLU *libcurl_url(void)
{
	struct ipf_error err = {0};
	if (libcurl_start(&err) < 0)
		return NULL;
	CURLU *url = curl_url();
	curl_global_cleanup(); /* which leaves the allocators */
	return url;
}
