/* The number of concurrent streams that an HTTP/2 server accepts on a connection. The server announces it in its
 * settings; libcurl reads them but does not report them.
 */
#ifndef IPF_CURL_STREAMS_H
#define IPF_CURL_STREAMS_H

#include <stdint.h>

/* Call it once, before there are threads. */
void curl_streams_init(void);

/* The last value that libcurl has read on the calling thread since the previous call; 0: none. */
uint32_t curl_streams_read(void);

#endif
