/* Where --push sends the figures, a Pushgateway or a receiver of Prometheus remote write, and --otlp the spans.
 *
 *     struct push_target target;
 *     if (push_target_parse("remote-write=http://localhost:9090/api/v1/write", &target, &err) < 0) …  // IPF_USAGE
 *
 * KIND= is `pushgateway` or `remote-write`. Without it the path decides: one that ends in /write, /push or /receive is
 * remote write's, an empty one or one that contains /metrics a Pushgateway's.
 *
 * A Pushgateway's URL gets the grouping /metrics/job/ipf/instance/HOST, and /run/NAME if the run has a name, unless its
 * path has a grouping already; remote write gives every series the same labels. OTLP's gets the path /v1/traces if it
 * has none.
 */
#ifndef COLLECT_PUSH_TARGET_H
#define COLLECT_PUSH_TARGET_H

#include "buffer.h"
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
/* Whether a credential may be sent there: over https, or to this machine. */
bool push_target_is_private(const struct push_target *target);

#endif
