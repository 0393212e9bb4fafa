/* A document as Markdown, in GitHub's and GitLab's dialect: for a comment on a change, such as a pull request, or for a
 * wiki. */
#ifndef REPORT_DOCUMENT_MD_H
#define REPORT_DOCUMENT_MD_H

#include "document/document.h"

/* Appends the parts IN_MARKDOWN; folded sections are shown on demand. */
void document_md(const struct document *d, struct buffer *out);

#endif
