/* Which of our exposition formats a client asks for, by its Accept header (RFC 9110, section 12.5.1).
 *
 *     accept_format("application/openmetrics-text;version=1.0.0,text/plain;q=0.5")  // METRICS_OPENMETRICS
 *
 * The format with the highest quality wins, and of equal ones the richest. Ignores media ranges naming another version,
 * message or encoding than ours, and malformed ones. Without a fitting format, or without the header, it is the classic
 * text, as every Prometheus exporter does.
 */
#ifndef COLLECT_ACCEPT_HEADER_H
#define COLLECT_ACCEPT_HEADER_H

enum metrics_format { METRICS_TEXT, METRICS_OPENMETRICS, METRICS_PROTOBUF, METRICS_FORMATS };

enum metrics_format accept_format(const char *accept); /* NULL: no header */
const char *metrics_content_type(enum metrics_format format);

#endif
