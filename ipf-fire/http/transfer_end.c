/* How a request ended, and what libcurl reports about it. */
#include "absent.h"
#include "clock.h"
#include "http/transfer.h"

#include <stdio.h>
#include <string.h>

_Static_assert(REFUSALS_MAX == 100, "the error text names the number");

#define STALE_NS (2 * NS_PER_MS) /* in addition to two round trips */

static bool is_tls(CURLcode code)
{
	switch (code) {
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_SSL_ENGINE_NOTFOUND:
	case CURLE_SSL_ENGINE_SETFAILED:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_USE_SSL_FAILED:
	case CURLE_SSL_ENGINE_INITFAILED:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_SHUTDOWN_FAILED:
	case CURLE_SSL_CRL_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
	case CURLE_SSL_INVALIDCERTSTATUS:
	case CURLE_SSL_CLIENTCERT:
		return true;
	default:
		return false;
	}
}

static bool connected(const struct transfer *x)
{
	return x->attempts > 0;
}

/* The error of a request without a connection: TCP, the proxy, or TLS failed. */
static enum record_error unconnected(const struct transfer *x)
{
	const struct transfer_setup *s = x->setup;
	bool tls = !strncmp(s->endpoint->targets[x->target].url, "https:", 6);
	long tunnel = 0;
	if (s->options->network_path->o.proxy &&
	    (curl_easy_getinfo(x->easy, CURLINFO_HTTP_CONNECTCODE, &tunnel) || tunnel / 100 != 2))
		return RECORD_CONNECT;
	/* libcurl may have noticed it before epoll reported it */
	bool established = x->established || strstr(x->error, "SSL connection");
	return tls && established ? RECORD_TLS : RECORD_CONNECT;
}

/* The error of a connection that broke: reset, or closed cleanly but too early. */
static enum record_error broken(const struct transfer *x)
{
	long os = 0;
	curl_easy_getinfo(x->easy, CURLINFO_OS_ERRNO, &os);
	if (strstr(x->error, "chunked-encoding") || strstr(x->error, "response headers"))
		return RECORD_PROTOCOL;
	return os || !strstr(x->error, "eof") ? RECORD_RESET : RECORD_CUT;
}

/* Did a kept connection break before any byte of a response? Mostly libcurl retries then, or would. It returns
 * CURLE_HTTP2 if the server had sent GOAWAY. */
static bool died_kept(const struct transfer *x, CURLcode code)
{
	bool broke = code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR || code == CURLE_GOT_NOTHING ||
	             code == CURLE_HTTP2;
	return x->retry_ns != IPF_ABSENT || (broke && x->job->reused && x->job->first_byte_ns == IPF_ABSENT);
}

/* libcurl takes a header line beyond its limit for a lack of memory. */
static bool header_too_long(const struct transfer *x, CURLcode code)
{
	return code == CURLE_OUT_OF_MEMORY && connected(x) && x->job->sent_ns != IPF_ABSENT && !x->no_memory;
}

static enum record_error kind_of(const struct transfer *x, CURLcode code)
{
	if (x->cancelled)
		return x->cancelled_as;
	if (died_kept(x, code))
		return RECORD_RESET;
	if (is_tls(code))
		return RECORD_TLS;
	switch (code) {
	case CURLE_OK:
		return RECORD_OK;
	case CURLE_OPERATION_TIMEDOUT: {
		const struct transport_options *o = x->setup->options;
		bool whole = o->timeout_ns && x->job->end_ns - x->job->start_ns >= o->timeout_ns - NS_PER_MS;
		return connected(x) || whole ? RECORD_TIMEOUT : unconnected(x);
	}
	case CURLE_RECV_ERROR:
	case CURLE_SEND_ERROR:
		return connected(x) ? broken(x) : unconnected(x);
	case CURLE_HTTP2_STREAM: /* the server ended the stream, or the connection under it */
		return strstr(x->error, "before end of the underlying") ? RECORD_CUT : RECORD_RESET;
	case CURLE_GOT_NOTHING:
	case CURLE_PARTIAL_FILE:
		return RECORD_CUT;
	case CURLE_OUT_OF_MEMORY:
		return header_too_long(x, code) ? RECORD_TOO_LARGE : RECORD_CANCELLED;
	case CURLE_WRITE_ERROR:
		return RECORD_CANCELLED;
	default:
		return connected(x) ? RECORD_PROTOCOL : unconnected(x);
	}
}

/* Had the server closed the kept connection before it saw the request? Then the reset answered the first packet. A
 * reset that arrives later ends a request that the server was processing. */
static bool stale(const struct transfer *x)
{
	int64_t sent = x->job->sent_ns == IPF_ABSENT ? x->job->start_ns : x->job->sent_ns;
	return x->job->end_ns - sent <= 2 * x->round_trip_ns + STALE_NS;
}

static void set_error(struct transfer *x, CURLcode code)
{
	struct job *job = x->job;
	const char *text = x->error[0] ? x->error : curl_easy_strerror(code);
	job->error = kind_of(x, code);
	if (job->error == RECORD_OK) {
		job->error_text[0] = '\0';
		return;
	}
	if (!connected(x)) /* there was no connection */
		job->connection = IPF_ABSENT;
	bool own = true;
	if (x->cancelled)
		text = x->cancelled;
	else if (x->no_memory)
		text = "out of memory";
	else if (header_too_long(x, code))
		text = "a line of the response's headers exceeds 100 KiB, or memory ran out";
	else if (job->refused >= REFUSALS_MAX)
		text = "HTTP/2 stream refused 100 times";
	else if (died_kept(x, code))
		text = (job->stale = stale(x)) ? "the server had closed the kept connection"
		                               : "the kept connection broke before a response";
	else
		own = false;
	if (own || !job->error_text[0]) /* it may already contain why no socket could be opened */
		snprintf(job->error_text, sizeof job->error_text, "%s", text);
}

/* The time of a step, which libcurl reports in microseconds from the start of the transfer; 0 if the step was not
 * taken. */
static int64_t step(const struct transfer *x, CURLINFO info)
{
	curl_off_t us = 0;
	if (curl_easy_getinfo(x->easy, info, &us) != CURLE_OK || us <= 0)
		return IPF_ABSENT;
	return x->begin_ns + us * NS_PER_US;
}

static void set_times(struct transfer *x)
{
	struct job *job = x->job;
	if (job->connection == IPF_ABSENT || job->reused)
		return;
	/* a pinned address was not looked up */
	if (x->setup->options->network_path->o.dns_each)
		job->dns_ns = step(x, CURLINFO_NAMELOOKUP_TIME_T);
	job->connect_ns = step(x, CURLINFO_CONNECT_TIME_T);
	job->tls_ns = step(x, CURLINFO_APPCONNECT_TIME_T);
}

/* The end of a complete response is the time of its last bytes; any other end is now. */
static int64_t end_of(const struct transfer *x, CURLcode code, int64_t t_ns)
{
	const struct job *job = x->job;
	int64_t read_ns, own_ns;
	if (code == CURLE_OK && transfer_last_read(x, &read_ns, &own_ns) && own_ns >= t_ns)
		t_ns = read_ns;
	int64_t last = job->reads_count ? job->reads[job->reads_count - 1].t_ns : job->start_ns;
	return t_ns > last ? t_ns : last;
}

void transfer_end(struct transfer *x, CURLcode code, int64_t t_ns)
{
	struct job *job = x->job;
	long status = 0, version = 0;
	job->end_ns = x->retry_ns != IPF_ABSENT ? x->retry_ns : end_of(x, code, t_ns);
	if (connected(x) && curl_easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK && status > 0)
		job->status = status;
	if (connected(x) && curl_easy_getinfo(x->easy, CURLINFO_HTTP_VERSION, &version) == CURLE_OK &&
	    version >= CURL_HTTP_VERSION_2_0)
		job->http = 2;
	set_error(x, code);
	set_times(x);
	if (job->end_ns < job->start_ns)
		job->end_ns = job->start_ns;
	x->job = NULL;
}
