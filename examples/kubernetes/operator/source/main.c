/* ipf-operator: makes Jobs of the Benchmarks of a namespace, and their status from the Jobs' results. See README.md.
 */
#include "cli/interrupt.h"
#include "cli/options.h"
#include "http/libcurl.h"
#include "key_file.h"
#include "watch_loop.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#define ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount/"

struct operator_options {
	const char *server, *token_file, *cacert, *namespace, *image, *pod;
	int64_t per_endpoint, port;
};

#define ROW(kind_, name_, argument_, member_, help_)                                                                   \
	OPTION(kind_, 0, name_, argument_, struct operator_options, member_, help_)

static const struct option_spec specs[] = {
	OPTION_HEADING("Work"),
	ROW(OPTION_TEXT, "pod", "NAME", pod,
        "measure with the image of this pod's container operator: that of the operator itself"),
	ROW(OPTION_TEXT, "image", "IMAGE", image, "measure with this image instead"),
	ROW(OPTION_COUNT, "per-endpoint", "N", per_endpoint, "how many Jobs may measure one server at a time (default: 1)"),
	ROW(OPTION_COUNT, "port", "PORT", port, "answer /healthz and /readyz on this port (default: 8080; 0: a free one)"),
	OPTION_HEADING("API server (default: that of the cluster which this is a pod of)"),
	ROW(OPTION_TEXT, "server", "URL", server, "where it is, as in https://10.96.0.1:443"),
	ROW(OPTION_TEXT, "namespace", "NAME", namespace, "the namespace whose Benchmarks are run"),
	ROW(OPTION_FILE, "token-file", "FILE", token_file, "file with the token of a service account"),
	ROW(OPTION_FILE, "cacert", "FILE", cacert, "file with the certificate that the API server's is signed with"),
	OPTION_HEADING("Information"),
	{.kind = OPTION_HELP, .letter = 'h', .name = "help", .help = "show this help"},
	{.kind = OPTION_VERSION, .name = "version", .help = "show the version, and those of the libraries"},
};

static const char *libraries(void)
{
	return curl_version();
}

static const struct program program = {
	.name = "ipf-operator",
	.summary = "run the Benchmarks of a namespace of Kubernetes",
	.specs = specs,
	.count = sizeof specs / sizeof *specs,
	.libraries = libraries,
	.manual = "examples/kubernetes/operator/README.md",
};

/* It becomes a part of paths. */
static bool is_name(const char *text, size_t most, const char *of)
{
	return *text && strlen(text) <= most && strspn(text, of) == strlen(text);
}

/* Where nothing else is said: as in a pod. */
static int complete(struct operator_options *o, char server[300], char namespace[256], struct ipf_error *err)
{
	const char *host = getenv("KUBERNETES_SERVICE_HOST"), *port = getenv("KUBERNETES_SERVICE_PORT");
	size_t len;

	if (!o->image && !o->pod)
		return ipf_error_set(err, IPF_USAGE, "--pod or --image is missing: the image that measures");
	if (o->per_endpoint < 1 || o->port < 0 || o->port > 65535)
		return ipf_error_set(err, IPF_USAGE, "--%s: out of range", o->per_endpoint < 1 ? "per-endpoint" : "port");
	if (!o->server) {
		if (!host || !port)
			return ipf_error_set(err, IPF_USAGE, "--server is missing, and this is no pod of a cluster");
		snprintf(server, 300, strchr(host, ':') ? "https://[%.200s]:%.20s" : "https://%.200s:%.20s", host, port);
		o->server = server;
		o->token_file = o->token_file ? o->token_file : ACCOUNT "token";
		o->cacert = o->cacert ? o->cacert : ACCOUNT "ca.crt";
	}
	if (!o->namespace) {
		if (key_file_read(ACCOUNT "namespace", namespace, 256, &len, err) < 0)
			return -1;
		namespace[strcspn(namespace, "\n")] = '\0';
		o->namespace = namespace;
	}
	if (!is_name(o->namespace, 63, "abcdefghijklmnopqrstuvwxyz0123456789-"))
		return ipf_error_set(err, IPF_USAGE, "--namespace: no name of a namespace: \"%s\"", o->namespace);
	if (o->pod && !is_name(o->pod, 253, "abcdefghijklmnopqrstuvwxyz0123456789-."))
		return ipf_error_set(err, IPF_USAGE, "--pod: no name of a pod: \"%s\"", o->pod);
	return 0;
}

int main(int argc, char **argv)
{
	struct operator_options o = {.per_endpoint = 1, .port = 8080};
	struct operands operands;
	struct ipf_error err = {0};
	char server[300], namespace[256];
	int status;

	if (!program_start(&program, argc, argv, &o, &operands, &status))
		return status;
	if (complete(&o, server, namespace, &err) < 0)
		return program_misuse(&program, &err);
	const struct operator_settings settings = {.api = {o.server, o.token_file, o.cacert},
	                                           .namespace = o.namespace,
	                                           .image = o.image,
	                                           .pod = o.pod,
	                                           .per_endpoint = o.per_endpoint};
	interrupt_watch(0);
	struct health *health = libcurl_start(&err) == 0 ? health_open(o.port, &err) : NULL;
	if (health) {
		fprintf(stderr, "ipf-operator: namespace %s, health on port %d\n", o.namespace, health_port(health));
		watch_loop_run(&settings, health, &err);
	}
	health_close(health);
	curl_global_cleanup();
	return ipf_error_report(&err, stderr, program.name);
}
