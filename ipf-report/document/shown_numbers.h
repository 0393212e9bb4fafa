/* Numbers as people read them, the same in every format. Functions taking a buffer of characters return it. */
#ifndef REPORT_SHOWN_NUMBERS_H
#define REPORT_SHOWN_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

/* Three significant digits, at most three decimals, thousands separated: 0.048 1.23 48.2 311 12,345. "-" for NAN. */
const char *show_number(double value, char text[40]);
const char *show_count(int64_t value, char text[40]); /* "-" if absent */
/* A count as a number of the JSON report; "-" for NAN. */
const char *show_whole(double value, char text[40]);
/* Shortens the text of show_number or show_count to `width` characters, at least 6: without commas, or as 1.23e7. */
const char *show_narrow(double value, int width, char text[40]);
const char *show_narrow_number(double value, int width, char text[40]);
const char *show_percent(double share, char text[40]);
/* At least three significant digits, however small: prices. */
const char *show_small(double value, char text[40]);
const char *plural(double n); /* "" or "s" */

/* Appends an item to a list in `text`: `what`, and after a blank `after`, if that is not "". `before` separates items.
 * Does nothing if `what` is NULL. */
void join(char *text, size_t size, const char *before, const char *what, const char *after);

#endif
