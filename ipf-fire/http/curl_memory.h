/* libcurl's memory. For each request it takes a few blocks of more than a thousand bytes and gives them back at its
 * end; the C library keeps such ones in no thread's own store, and joins and cuts them each time, which is a twentieth
 * of what a request costs. */
#ifndef IPF_CURL_MEMORY_H
#define IPF_CURL_MEMORY_H

#include <curl/curl.h>

/* curl_global_init, with this memory. */
CURLcode curl_memory_init(void);
/* Gives back what the calling thread has in store: at its end. */
void curl_memory_drain(void);

#endif
