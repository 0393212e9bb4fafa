/* libcurl, whose memory passes through lib/memory.h: after a failed allocation every error says "out of memory". */
#ifndef IPF_HTTP_LIBCURL_H
#define IPF_HTTP_LIBCURL_H

#include "error.h"

#include <curl/curl.h>

/* Before threads and before any handle of libcurl; calling it again is harmless, and curl_global_cleanup() ends each
 * call. -1: libcurl cannot be used. */
int libcurl_start(struct ipf_error *err);
/* Why a transfer failed: as libcurl `said` (CURLOPT_ERRORBUFFER; NULL or "": nothing), or the meaning of the code. */
const char *libcurl_why(CURLcode code, const char *said);
CURLU *libcurl_url(void); /* curl_url(), also before the start; NULL: out of memory */

#endif
