/* Parses quantities with units as users write them, and formats them for people. See QUANTITIES in ipf(7).
 *
 * Parsing is strict: the whole text must be the quantity.
 *
 *   duration  250ms 10s 2m 1.5h 1m30s; units ns us ms s m h d; a number without a unit is refused, except 0
 *   rate      5  5/s  300/m  1.5k (per second by default)
 *   count     1000  1.5k  2M (powers of 1000; the result must be a whole number)
 *   size      4096  64KiB  1.5MiB  10MB (KiB MiB GiB TiB powers of 1024; kB MB GB TB powers of 1000)
 *   share     5%  0.05
 *
 * Each returns 0, or -1 with IPF_USAGE and a text like `expected a duration such as 250ms or 2m, got "10"`. Signs,
 * spaces, inf and nan are refused; overflow is an error.
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
int parse_number(const char *text, double *number,
                 struct ipf_error *err); /* a finite decimal number; a sign is allowed */

/* Format for people with three significant digits: "1.5 ms", "23.4 s", "2 m 5 s". Return `text`. */
char *format_duration(int64_t ns, char text[32]);
char *format_size(int64_t bytes, char text[32]);  /* "1.5 MB", "1000 bytes" */
char *format_count(double value, char text[32]);  /* 999, 1.50k, 23.4M */
char *format_whole(int64_t value, char text[32]); /* every digit: "-1,234,567" */

/* "-1234567.5" to "-1,234,567.5", in place: a third more room than the digits take. Returns `text`. */
char *separate_thousands(char *text);

#endif
