/* The memory of jansson and OpenSSL passes through lib/memory.h from here on; called before anything of theirs. */
#ifndef IPF_CLI_ALLOCATORS_H
#define IPF_CLI_ALLOCATORS_H

void allocators_set(void);

#endif
