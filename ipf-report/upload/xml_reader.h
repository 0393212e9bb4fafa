/* Reads the XML a store of objects answers: a walk over its elements, by expat. Answers are untrusted bytes: documents
 * with a DTD, which could define entities, are refused.
 *
 *     static void take(void *data, const char *element, const char *text) { … }
 *     xml_read(body, take, &parts);
 */
#ifndef REPORT_XML_READER_H
#define REPORT_XML_READER_H

#include "buffer.h"

#define XML_TEXT_MOST 4096 /* bytes of a kept text */

/* At the end of each element, children before their parent: its name, and the text since the last begin or end of an
 * element, which is that of the element if it has no children. */
typedef void xml_element(void *data, const char *element, const char *text);

/* -1: not well formed, or out of memory; elements until there were told. */
int xml_read(struct slice document, xml_element *element, void *data);

/* Name and version of the library. */
const char *xml_library(void);

#endif
