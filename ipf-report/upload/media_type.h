/* The media type of an object, by the end of its name, so a browser shows a report instead of saving it. */
#ifndef REPORT_MEDIA_TYPE_H
#define REPORT_MEDIA_TYPE_H

/* "text/html; charset=utf-8"; application/octet-stream if it is not known. */
const char *media_type(const char *name);

#endif
