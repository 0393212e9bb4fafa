/* The memory of nghttp2, so that it passes through lib/memory.h. */
#ifndef IPF_HTTP2_MEMORY_H
#define IPF_HTTP2_MEMORY_H

#include <nghttp2/nghttp2.h>

nghttp2_mem *http2_memory(void); /* static: inflaters and sessions keep its address */

#endif
