/* A comparison as a document: the result first, then the conditions, the figures, the differing settings, the sides.
 */
#ifndef COMPARE_COMPARE_DOCUMENT_H
#define COMPARE_COMPARE_DOCUMENT_H

#include "compare/comparison.h"
#include "document/document.h"

void compare_document(struct document *d, const struct comparison *c);

#endif
