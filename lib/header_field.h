/* Checks headers (RFC 9110, section 5). For requests: libcurl sends anything, and servers guess its meaning.
 */
#ifndef IPF_HEADER_FIELD_H
#define IPF_HEADER_FIELD_H

#include <stdbool.h>
#include <stddef.h>

/* One or more letters, digits and marks of !#$%&'*+-.^_`|~: no space, also none before the colon. */
bool header_name_is_valid(const char *name, size_t len);
size_t header_name_length(const char *text, size_t len); /* the length of the name the text begins with; 0: none */
/* No control character but the tab. May be empty. */
bool header_value_is_valid(const char *value);

#endif
