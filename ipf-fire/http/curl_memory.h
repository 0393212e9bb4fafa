/* An allocator for libcurl. For each request libcurl allocates a few blocks above a thousand bytes and frees them at
 * its end. The C library keeps no blocks of that size per thread, and splits and joins them each time, which takes a
 * twentieth of the CPU time of a request. This allocator keeps some per thread.
 */
#ifndef IPF_CURL_MEMORY_H
#define IPF_CURL_MEMORY_H

#include <curl/curl.h>

/* curl_global_init with this allocator. */
CURLcode curl_memory_init(void);
/* Frees the blocks that the calling thread keeps. Call it when the thread ends. */
void curl_memory_drain(void);

#endif
