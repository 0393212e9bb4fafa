/* The multi handles of libcurl that a transport spreads its connections over. */
#ifndef IPF_MULTI_HANDLES_H
#define IPF_MULTI_HANDLES_H

#include "http/transport_state.h"

/* The multi handle for a request to this target: one that has an idle connection; else one with room for another
 * connection; else a new one. `key`: of the session whose connections the request may use; 0: those of no session.
 * NULL: out of memory. */
struct multi_handle *multi_handle_choose(struct transport *t, size_t target, uint64_t key);

#endif
