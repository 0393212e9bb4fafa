/* The style sheet and the script of the page. They are generated at build time from report.css and report.js by
 * embed.sh. */
#ifndef REPORT_PAGE_FILES_H
#define REPORT_PAGE_FILES_H

extern const char page_report_css[];
extern const char page_report_js[];

#endif
