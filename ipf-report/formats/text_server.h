/* The sections "Server" and "Accelerators" of the text report: what these said of themselves, and the server's figures
 * beside the client's. Nothing if there were no samples. */
#ifndef REPORT_TEXT_SERVER_H
#define REPORT_TEXT_SERVER_H

#include "formats/report_format.h"
#include "formats/text_layout.h"

void text_server(struct layout *l, const struct report *report);
void text_accelerators(struct layout *l, const struct report *report);

#endif
