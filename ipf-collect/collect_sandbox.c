#include "collect_sandbox.h"

#include "http/url_port.h"
#include "publish/listen_address.h"
#include "sandbox/sandbox.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBER(type_, options_, offset_) ((const type_ *)(const void *)((const char *)(options_) + (offset_)))
#define OFFSET(member_)                  offsetof(struct collect_options, member_)

static const struct sandbox_file files[] = {
	{OFFSET(api), sandbox_read},
	{OFFSET(samples), sandbox_read},
	{OFFSET(output_check.rule), sandbox_read},
	{OFFSET(output_check.trace), sandbox_read},
	{OFFSET(scrape.cacert), sandbox_read},
	{OFFSET(scrape.bearer), sandbox_read_again},
	{OFFSET(scrape.prometheus_bearer), sandbox_read_again},
	{OFFSET(publish.push.figures.key.file), sandbox_read},
	{OFFSET(publish.push.otlp_key.file), sandbox_read},
	{OFFSET(common.output), sandbox_write},
};

/* The options whose servers are connected to. */
static const size_t lists[] = {OFFSET(scrape.targets), OFFSET(gpu), OFFSET(publish.push.figures.targets)};
static const size_t urls[] = {OFFSET(scrape.prometheus), OFFSET(publish.push.otlp)};
/* libcurl goes through the proxies these name. */
static const char *const proxies[] = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};

#define COUNT_OF(array_) (sizeof(array_) / sizeof *(array_))

int collect_sandbox_check(const struct collect_options *o, struct ipf_error *err)
{
	const struct {
		const char *bearer, *option;
	} bearers[] = {{o->scrape.bearer, "scrape-bearer"}, {o->scrape.prometheus_bearer, "prometheus-bearer"}};
	for (size_t i = 0; o->sandbox && i < o->gpu.count; i++)
		if (!strstr(o->gpu.items[i], "://"))
			return ipf_error_set(err, IPF_USAGE,
			                     "--sandbox cannot be combined with --gpu %s, which starts a program or opens devices: "
			                     "use an exporter, dcgm:URL or amd:URL",
			                     o->gpu.items[i]);
	for (size_t i = 0; o->sandbox && i < COUNT_OF(bearers); i++)
		if (bearers[i].bearer && *bearers[i].bearer == '!')
			return ipf_error_set(err, IPF_USAGE,
			                     "--sandbox cannot be combined with --%s !COMMAND, which starts a program: use a file",
			                     bearers[i].option);
	return 0;
}

static bool has_servers(const struct collect_options *o)
{
	bool any = false;
	for (size_t i = 0; i < COUNT_OF(lists); i++)
		any |= MEMBER(struct string_list, o, lists[i])->count > 0;
	for (size_t i = 0; i < COUNT_OF(urls); i++)
		any |= *MEMBER(char *, o, urls[i]) != NULL;
	return any;
}

static void allow_servers(struct sandbox *s, const struct collect_options *o)
{
	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		const struct string_list *list = MEMBER(struct string_list, o, lists[i]);
		for (size_t k = 0; k < list->count; k++)
			sandbox_connect(s, url_port(list->items[k]));
	}
	for (size_t i = 0; i < COUNT_OF(urls); i++) {
		const char *url = *MEMBER(char *, o, urls[i]);
		if (url)
			sandbox_connect(s, url_port(url));
	}
}

static void allow_ports(struct sandbox *s, const struct collect_options *o)
{
	struct listen_address address;
	struct ipf_error ignored = {0}; /* it was checked before */
	if (o->publish.listen && listen_address_parse(o->publish.listen, &address, &ignored) == 0)
		sandbox_bind(s, ntohs(((const struct sockaddr_in *)&address.address)->sin_port)); /* or at the same place */
	if (!has_servers(o))
		return;
	allow_servers(s, o);
	sandbox_look_up_names(s);
	for (size_t i = 0; i < COUNT_OF(proxies); i++)
		if (getenv(proxies[i]))
			sandbox_connect(s, url_port(getenv(proxies[i])));
}

int collect_sandbox_enter(const struct collect_options *o, const struct operands *records, struct ipf_error *err)
{
	struct sandbox s;
	if (!o->sandbox)
		return 0;
	if (sandbox_begin(&s, err) < 0)
		return -1;
	if (s.missing && !o->common.quiet)
		fprintf(stderr, "ipf-collect: warning: --sandbox: %s\n", s.missing);
	sandbox_files(&s, o, files, COUNT_OF(files));
	for (int i = 0; i < records->count; i++)
		sandbox_read(&s, records->items[i]);
	allow_ports(&s, o);
	return sandbox_enter(&s, err);
}

int collect_sandbox_close_files(const struct collect_options *o, struct ipf_error *err)
{
	unsigned needs = (has_servers(o) ? CALLS_CONNECT : 0) | (o->publish.listen ? CALLS_ACCEPT : 0);
	return o->sandbox ? sandbox_close_files(needs, err) : 0;
}
