/* Permissions that ipf-collect still needs with --sandbox (sandbox/sandbox.h).
 */
#ifndef COLLECT_COLLECT_SANDBOX_H
#define COLLECT_COLLECT_SANDBOX_H

#include "collect.h"

/* Refuses options that cannot work with it, by name: IPF_USAGE. */
int collect_sandbox_check(const struct collect_options *options, struct ipf_error *err);
/* These do nothing without --sandbox. The first one comes before the first thread, when the tokenizer is open, and
 * warns if this kernel cannot limit everything; the second one when the output is open. -1: IPF_SYSTEM. */
int collect_sandbox_enter(const struct collect_options *options, const struct operands *records, struct ipf_error *err);
int collect_sandbox_close_files(const struct collect_options *options, struct ipf_error *err);

#endif
