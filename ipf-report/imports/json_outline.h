/* Which members a JSON file has, by its beginning: what a file is recognised by, whatever it is called.
 *
 *     struct json_outline outline = {0};
 *     json_outline_read(&outline, beginning);
 *     json_outline_has(&outline, "metadata.aiperf_version")   // {"metadata": {"aiperf_version": …
 *     json_outline_has(&outline, "[].start_time")             // [{"start_time": …
 *     json_outline_has(&outline, "runs[].id")                 // {"runs": [{"id": …
 *     json_outline_release(&outline);
 *
 * Members are found down to the fourth level, of lists in their first element, and of several documents in the first.
 * Nothing is checked: what is no JSON has few members, or none.
 */
#ifndef REPORT_JSON_OUTLINE_H
#define REPORT_JSON_OUTLINE_H

#include "buffer.h"

struct json_outline {
	struct buffer paths; /* a newline before and after each */
};

void json_outline_read(struct json_outline *outline, struct slice beginning);
void json_outline_release(struct json_outline *outline);
bool json_outline_has(const struct json_outline *outline, const char *path);

#endif
