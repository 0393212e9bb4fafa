/* Quantities as people write them, read strictly: the whole text has to be the quantity.
 *
 *   duration  250ms 10s 2m 1.5h 1m30s, units ns us ms s m h d; a bare number is refused except 0
 *   rate      5  5/s  300/m  1.5k (per second unless it says otherwise)
 *   count     1000  1.5k  2M (powers of 1000; must come out whole)
 *   size      4096  64KiB  1.5MiB  10MB (KiB MiB GiB TiB powers of 1024; kB MB GB TB powers of 1000)
 *   share     5%  0.05
 *
 * Each returns 0, or -1 with a text like `expected a duration such as 250ms or 2m, got "10"` in err (IPF_USAGE).
 * Negative quantities, signs, spaces, inf and nan are refused; overflow is an error.
 */
#ifndef IPF_UNITS_H
#define IPF_UNITS_H

#include "error.h"

#include <stddef.h>
#include <stdint.h>

int parse_duration(const char *text, int64_t *ns, struct ipf_error *err);
int parse_rate(const char *text, double *per_second, struct ipf_error *err);
int parse_count(const char *text, int64_t *count, struct ipf_error *err);
int parse_size(const char *text, int64_t *bytes, struct ipf_error *err);
int parse_share(const char *text, double *share, struct ipf_error *err);
int parse_number(const char *text, double *number, struct ipf_error *err); /* a finite decimal number, sign allowed */

/* The other way: "1.5 ms", "23.4 s", "2 m 5 s" (three significant digits), for people. Return `text`. */
char *format_duration(int64_t ns, char text[32]);
char *format_count(double value, char text[32]); /* 999, 1.50k, 23.4M */

#endif
