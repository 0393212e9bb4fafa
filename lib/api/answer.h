/* What a response says: its events sorted into kinds by the API's descriptor, its text, its usage, its end or its
 * error.
 *
 *     struct answer a = {0};
 *     if (answer_read(&a, &record, api, &options, &err) < 0) …      // memory only: no body is too strange to be read
 *     a.events[0].t_ns …                                            // good until the next answer_read
 *     answer_release(&a);
 *
 * Everything here is about what came; which of it makes the request fail, and every figure, is ipf-collect's.
 */
#ifndef IPF_ANSWER_H
#define IPF_ANSWER_H

#include "api/api.h"
#include "api/envelope.h"
#include "api/framing.h"
#include "stream/record.h"
#include "tokenizer/token_counter.h"

/* Times beyond are no times: nine years from the run's start. Sums and tenfolds of what lies within cannot overflow. */
#define ANSWER_TIME_MAX (INT64_C(1) << 58)

struct answer_options {
	const struct token_counter *tokens; /* NULL: nobody counts, so nothing is gathered for it */
	bool keep_text;                     /* --text */
};

/* A content event: reasoning, answer text or tool call with at least one character. */
struct answer_event {
	int64_t t_ns;         /* of the read that brought its last byte: events of the same read have the same */
	int64_t usage_tokens; /* output tokens so far by the event's own usage; IPF_ABSENT */
	size_t joined;        /* length of `joined` after it */
};

struct answer {
	struct answer_event *events;
	size_t events_count, events_cap;
	int64_t first_text_ns; /* time of the first event with answer text; IPF_ABSENT */
	bool parsed;           /* the body was read as an answer (a 2xx came) */
	bool ended;            /* the end mark was seen */
	bool failed;           /* an error was sent in the body; its text in error_text */
	bool no_status;        /* gRPC: it ended without one */
	bool late;             /* and that error is that the time was over */
	bool malformed;     /* something did not parse, or is not what the API promises; what and where in malformed_text */
	bool prompt_inside; /* the text holds the prompt too, so that nobody here can count the answer's tokens */
	bool no_text;       /* the answer is data, such as embeddings: it has no tokens */
	int64_t input_tokens, output_tokens, reasoning_tokens, cached_tokens; /* the last that the server's usage said */
	int64_t server_ns[API_SERVER_TIMES];                                  /* the server's own timings; IPF_ABSENT */
	struct buffer finish;          /* in the house's words where the descriptor knows them */
	struct buffer finish_server;   /* in the server's, where that is another */
	struct buffer joined;          /* all content in the order of arrival, where a tokenizer counts it */
	struct buffer text, reasoning; /* each by itself, with --text */
	struct buffer error_text, malformed_text;

	/* private */
	struct jdoc doc;
	struct framing framing;
	struct envelope envelope;               /* where the response has one */
	const struct protobuf_schema *protobuf; /* of messages of the type `message` the events are; NULL: they are JSON */
	int message;
	struct buffer json;
	struct buffer piece, seen_text, seen_reasoning;
	size_t prompt_bytes;                 /* at the beginning of the text, to be left out */
	const struct api_response *response; /* by which it was read */
	enum api_framing cut;                /* and how it was cut into events */
	bool torn;                           /* the body ended in the middle of an event */
	size_t read, read_end; /* the read that the last event ended in, and where that read ends in the body */
	int64_t last_ns;
};

/* Reads the body of a record that has one. -1: out of memory. */
int answer_read(struct answer *a, const struct record *record, const struct api *api,
                const struct answer_options *options, struct ipf_error *err);
void answer_release(struct answer *a);

#endif
