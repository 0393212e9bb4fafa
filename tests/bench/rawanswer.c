#include "rawanswer.h"

#include <stdio.h>
#include <string.h>

#define TIME_DIGITS   19
#define NUMBER_DIGITS 8
#define WORD_DIGITS   5

static const char head[] =
	"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n";

/* An event in its chunk, and the place of its changing part. */
static struct {
	char text[256];
	size_t len, number, time, word;
} event;

/* The end after the last event, for answers of so many. */
static struct {
	char text[512];
	size_t len, number;
	int64_t all;
} tail;

static size_t place_of(const char *text, const char *what)
{
	return (size_t)(strstr(text, what) - text) + strlen(what);
}

void rawanswer_init(void)
{
	static const char data[] =
		"data: {\"id\":\"chatcmpl-00000000\",\"object\":\"chat.completion.chunk\",\"created\":1763620000,\"model\":\"raw\","
		"\"sent_ns\":\"0000000000000000000\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" w00000\"},\"finish_reason\":null}]}\n\n";
	event.len = (size_t)snprintf(event.text, sizeof event.text, "%zx\r\n%s\r\n", sizeof data - 1, data);
	event.number = place_of(event.text, "chatcmpl-");
	event.time = place_of(event.text, "sent_ns\":\"");
	event.word = place_of(event.text, "content\":\" w");
}

static void digits(char *to, size_t count, uint64_t value)
{
	while (count--) {
		to[count] = (char)('0' + value % 10);
		value /= 10;
	}
}

static void make_tail(int64_t all)
{
	char data[400];
	snprintf(
		data, sizeof data,
		"data: {\"id\":\"chatcmpl-00000000\",\"object\":\"chat.completion.chunk\",\"created\":1763620000,\"model\":\"raw\","
		"\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":16,\"completion_tokens\":%lld,"
		"\"total_tokens\":%lld}}\n\ndata: [DONE]\n\n",
		(long long)all, (long long)all + 16);
	tail.len = (size_t)snprintf(tail.text, sizeof tail.text, "%zx\r\n%s\r\n0\r\n\r\n", strlen(data), data);
	tail.number = place_of(tail.text, "chatcmpl-");
	tail.all = all;
}

size_t rawanswer_write(char *to, uint32_t request, int64_t from, int64_t count, int64_t all, int64_t real_ns)
{
	char *at = to;
	if (from == 0)
		at = mempcpy(at, head, sizeof head - 1);
	for (int64_t i = 0; i < count; i++) {
		if (i == 0) {
			memcpy(at, event.text, event.len);
			digits(at + event.number, NUMBER_DIGITS, request);
			digits(at + event.time, TIME_DIGITS, (uint64_t)real_ns);
		} else {
			memcpy(at, at - event.len, event.len);
		}
		digits(at + event.word, WORD_DIGITS, (uint64_t)(from + i));
		at += event.len;
	}
	if (from + count == all) {
		if (tail.all != all)
			make_tail(all);
		memcpy(at, tail.text, tail.len);
		digits(at + tail.number, NUMBER_DIGITS, request);
		at += tail.len;
	}
	return (size_t)(at - to);
}

static size_t whole(char *to, const char *status, const char *body)
{
	return (size_t)snprintf(to, 1024, "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
	                        status, strlen(body), body);
}

size_t rawanswer_models(char *to)
{
	return whole(
		to, "200 OK",
		"{\"object\":\"list\",\"data\":[{\"id\":\"raw\",\"object\":\"model\",\"created\":1763620000,\"owned_by\":\"bench\"}]}\n");
}

size_t rawanswer_refusal(char *to, int status, const char *why)
{
	char line[64], body[256];
	snprintf(line, sizeof line, "%d Refused", status);
	snprintf(body, sizeof body, "{\"error\":{\"message\":\"%s\"}}\n", why);
	return whole(to, line, body);
}
