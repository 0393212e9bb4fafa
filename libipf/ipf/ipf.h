/* libipf: the streams, schedules, tokenizers, statistics, metrics and runs of ipf for other programs. All headers at
 * once; see ipf(3).
 *
 *     cc program.c $(pkg-config --cflags --libs ipf)
 */
#ifndef LIBIPF_IPF_H
#define LIBIPF_IPF_H

#include <ipf/measures.h>
#include <ipf/runs.h>
#include <ipf/schedules.h>
#include <ipf/statistics.h>
#include <ipf/streams.h>
#include <ipf/tokens.h>
#include <ipf/values.h>

#endif
