/* How many streams a server of HTTP/2 takes at once on a connection: it says so in its settings, which libcurl reads
 * and tells nobody. */
#ifndef IPF_CURL_STREAMS_H
#define IPF_CURL_STREAMS_H

#include <stdint.h>

/* Once, before there are threads. */
void curl_streams_init(void);

/* What libcurl has read on the calling thread since the last call, the last of it; 0: nothing. */
uint32_t curl_streams_read(void);

#endif
