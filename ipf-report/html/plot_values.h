/* The values behind the plots of a page, for its script: <script type="application/json" id="plot-values">.
 *
 *     plot_values_write(list, outliers, &out);          // "plots" and "outliers" of a JSON report
 *
 *     {"plots": {"cdf-ttft": {"panels": […], "columns": [[…], …], "range": {…}}, …},
 *      "outliers": {"slowest_each": 10, "failed": 3, "keys": ["n", …], "rows": [[17, …], …]}}
 *
 * Panels are those of the JSON report (ipf-report-json(5)), but x, y and n are numbers of columns. Columns have six
 * significant digits, times eight, and null for a missing value; counts are whole: a rate is the count of its step.
 * Cells are one list: column, row, count, column, row, count, …
 *
 * Whatever is in the JSON, the result is an element that runs nothing: only known members of the right type are taken,
 * texts are made safe (safe_text.h), and no "<" is in it.
 */
#ifndef REPORT_PLOT_VALUES_H
#define REPORT_PLOT_VALUES_H

#include "buffer.h"

#include <jansson.h>

/* Appends the element; nothing if no plot has panels. NULL lists are empty. */
void plot_values_write(json_t *plots, json_t *outliers, struct buffer *out);

#endif
