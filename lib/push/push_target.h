/* Where --push of ipf-collect and ipf-report sends figures, a Pushgateway or a receiver of Prometheus remote write, and
 * --otlp the spans.
 *
 *     struct push_target target;
 *     if (push_target_parse("remote-write=http://localhost:9090/api/v1/write", &target, &err) < 0) …  // IPF_USAGE
 *
 * KIND= is `pushgateway` or `remote-write`. Without it the path decides: one that ends in /write, /push or /receive is
 * remote write's, an empty one or one that contains /metrics a Pushgateway's.
 *
 * A Pushgateway's URL gets the caller's labels as its grouping, such as /metrics/job/ipf/run/NAME, unless its path has
 * a grouping already; remote write gives every series the same labels. OTLP's gets the path /v1/traces if it has none.
 */
#ifndef IPF_PUSH_TARGET_H
#define IPF_PUSH_TARGET_H

#include "buffer.h"
#include "cli/option_table.h"
#include "error.h"
#include "metrics/metric_sink.h"

#include <stdbool.h>
#include <stdint.h>

enum push_kind { PUSH_PUSHGATEWAY, PUSH_REMOTE_WRITE, PUSH_OTLP };
extern const char *const push_kind_names[]; /* those of --push; NULL at the end */

struct push_target {
	enum push_kind kind;
	const char *url; /* borrowed */
	bool grouped;    /* the URL has a grouping */
};

int push_target_parse(const char *text, struct push_target *target, struct ipf_error *err);
/* The argument of --otlp: a URL. */
int push_target_parse_otlp(const char *url, struct push_target *target, struct ipf_error *err);

/* Appends the URL to send to. `labels`: the grouping, job first. */
void push_target_url(const struct push_target *target, const struct metric_label *labels, size_t count,
                     struct buffer *out);

/* The host of a URL, an IPv6 address without its brackets, which the caller frees, and its port. NULL and IPF_ABSENT:
 * it has none, or memory ran out. */
char *push_url_host(const char *url, int64_t *port);

/* Where the credential of an option is: --OPTION-key-env, --OPTION-key-file. */
struct push_key {
	const char *env, *file; /* NULL: not given */
};

/* A credential as the value of an Authorization header, appended to `header`: "Bearer KEY", or "Basic …" if it is of
 * the form user:password. Nothing is appended if it was not given. `option`: the option in messages, none of which
 * contains the credential. IPF_USAGE also if both places are given. */
int push_credential(const struct push_key *key, const char *option, struct buffer *header, struct ipf_error *err);
/* IPF_USAGE if a credential may not be sent there: it goes over https, or to this machine. Nothing is wrong without a
 * credential, which is an empty `header`. */
int push_target_check_private(const struct push_target *target, const char *option, const struct buffer *header,
                              struct ipf_error *err);
/* Overwrites a credential in memory and releases it. */
void push_credential_forget(struct buffer *header);

#define PUSH_TARGETS 8 /* the most of --push */

/* The options --push, --push-key-env and --push-key-file. */
struct push_figures {
	struct string_list targets; /* [KIND=]URL */
	struct push_key key;
};

/* Parses all targets, and appends the credential to `header`, to be forgotten by the caller in any case. IPF_USAGE, or
 * IPF_SYSTEM: the file of the key cannot be read. */
int push_figures_parse(const struct push_figures *figures, struct push_target targets[PUSH_TARGETS],
                       struct buffer *header, struct ipf_error *err);

#endif
