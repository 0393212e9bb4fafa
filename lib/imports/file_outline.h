/* The members of a JSON file, by its beginning: a file is recognised by them, whatever it is called.
 *
 *     struct file_outline outline = {0};
 *     file_outline_read(&outline, beginning);
 *     file_outline_has(&outline, "metadata.aiperf_version")   // {"metadata": {"aiperf_version": …
 *     file_outline_has(&outline, "[].start_time")             // [{"start_time": …
 *     file_outline_has(&outline, "runs[].id")                 // {"runs": [{"id": …
 *     file_outline_release(&outline);
 *
 * Members are found down to the fourth level, of lists in their first element, and of several documents in the first.
 * Nothing is checked: a text that is no JSON has few members, or none.
 */
#ifndef IPF_FILE_OUTLINE_H
#define IPF_FILE_OUTLINE_H

#include "buffer.h"

struct file_outline {
	struct buffer paths; /* a newline before and after each */
};

void file_outline_read(struct file_outline *outline, struct slice beginning);
void file_outline_release(struct file_outline *outline);
bool file_outline_has(const struct file_outline *outline, const char *path);

#endif
