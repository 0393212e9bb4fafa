/* The options of `ipf-prep capture`. */
#ifndef PREP_CAPTURE_SETTINGS_H
#define PREP_CAPTURE_SETTINGS_H

#include "api/api.h"
#include "cli/options.h"

#include <jansson.h>

struct capture_settings {
	const char *records;             /* --records: a path, or "-"; NULL: none are written */
	const char *keylog;              /* --keylog; NULL: TLS is not decrypted */
	struct string_list apis;         /* --api: only requests of these; count 0: all that generate text */
	struct string_list keep_headers; /* --keep-header: of requests, in the trace */
	struct string_list ports;        /* --port: of servers; count 0: all */
	const char *session_header;      /* --session-header; NULL: the usual ones */
	bool records_only;               /* no trace is written */
	bool reproducible, quiet;
	json_t *argv; /* the command line, for the header; borrowed; NULL: none */
};

/* Their rows, but for those of ipf-prep itself. */
#define CAPTURE_OPTIONS(type_, member_)                                                                                \
	OPTION(OPTION_FILE, 0, "keylog", "FILE", type_, member_.keylog,                                                    \
	       "decrypt TLS with the keys of FILE, in the format of SSLKEYLOGFILE"),                                       \
		OPTION_OFFERING(OPTION_LIST, 0, "api", "NAME|FILE", type_, member_.apis, NULL, api_offer,                      \
	                    "take requests of this API only, by its path (repeatable; default: all that generate text)"),  \
		OPTION(OPTION_LIST, 0, "port", "N", type_, member_.ports, "look at servers with this port only (repeatable)"), \
		OPTION(OPTION_TEXT, 0, "session-header", "NAME", type_, member_.session_header,                                \
	           "requests with the same value of this header are turns of a session (default: x-session-id and "        \
	           "similar names)")

#endif
