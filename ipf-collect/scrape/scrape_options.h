/* The user's options for the servers' metrics, see ipf-collect(1). */
#ifndef COLLECT_SCRAPE_OPTIONS_H
#define COLLECT_SCRAPE_OPTIONS_H

#include "cli/option_table.h"

#include <stdbool.h>
#include <stdint.h>

struct scrape_options {
	struct string_list targets; /* --scrape [NAME=]URL */
	struct string_list metrics; /* --metric PATTERN */
	int64_t timeout_ns;         /* --scrape-timeout */
	const char *bearer;         /* --scrape-bearer */
	const char *prometheus;     /* --prometheus URL; NULL: not given */
	struct string_list queries; /* --query NAME=PROMQL */
	const char *job, *namespace;
	const char *prometheus_bearer;
	int64_t prometheus_timeout_ns;
	const char *cacert; /* --cacert */
	bool insecure;      /* --insecure */
};

#endif
