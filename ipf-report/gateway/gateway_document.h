/* The JSON object of a gateway (gateway_json.h) as a document: the time it adds, then everything else it did. */
#ifndef GATEWAY_GATEWAY_DOCUMENT_H
#define GATEWAY_GATEWAY_DOCUMENT_H

#include "document/document.h"

void gateway_document(struct document *d, json_t *gateway);

#endif
