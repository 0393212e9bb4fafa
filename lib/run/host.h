/* The machine a program runs on. */
#ifndef IPF_HOST_H
#define IPF_HOST_H

#include <jansson.h>

/* Name, system, number of processors and boot of this machine. New; NULL: out of memory. */
json_t *host_json(void);

#endif
