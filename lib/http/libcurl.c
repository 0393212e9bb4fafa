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
	if (code == CURLE_OUT_OF_MEMORY) /* or that of the C library, which it calls */
		memory_note_failure();
	return said && *said ? said : curl_easy_strerror(code);
}

CURLU *libcurl_url(void)
{
	struct ipf_error err = {0};
	return libcurl_start(&err) == 0 ? curl_url() : NULL;
}
