/* The style sheets and the scripts of the page, without their comments: see embed.sh, which makes them of the files
 * next to this one at build time. */
#ifndef REPORT_PAGE_FILES_H
#define REPORT_PAGE_FILES_H

extern const char page_report_css[];
extern const char page_tables_js[];
/* for pages with plots */
extern const char page_plots_css[];
extern const char page_plot_values_js[], page_plot_requests_js[], page_plot_stops_js[], page_plot_probe_js[],
	page_plot_series_js[], page_plot_range_js[];

#endif
