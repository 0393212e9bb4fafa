/* The contents of a response: its content events, text, usage, finish reason, end mark or error, at the places of the
 * API's descriptor.
 *
 *     struct response r = {0};
 *     if (response_parse(&r, &record, api, &options, &err) < 0) …   // out of memory only; any body can be parsed
 *     r.events[0].t_ns …                                            // good until the next response_parse
 *     response_release(&r);
 *
 * This module reports the contents. Which of it makes the request fail, and every metric, is up to ipf-collect.
 */
#ifndef IPF_RESPONSE_H
#define IPF_RESPONSE_H

#include "api/api.h"
#include "api/envelope.h"
#include "api/event_repeat.h"
#include "api/framing.h"
#include "stream/record.h"
#include "tokenizer/token_counter.h"

/* Times are clamped to this, nine years from the run's start, so sums of them and ten times one cannot overflow.
 */
#define RESPONSE_TIME_MAX (INT64_C(1) << 58)

struct response_options {
	const struct token_counter *tokens; /* NULL: no tokenizer, so `content` stays empty */
	bool keep_text;                     /* fill `text` and `reasoning` */
	bool keep_ids;                      /* fill `output_ids` and `prompt_ids` */
	bool keep_logprobs;                 /* fill `tokens` */
	bool keep_others;                   /* fill `others` */
	bool virtual_time;                  /* every read is its event's, to the nanosecond: of a predicted run */
};

/* A content event: it brings at least one character of text, reasoning or tool call, or data such as an embedding. */
struct response_event {
	int64_t t_ns;         /* time of the read that brought its last byte; events of one read share it */
	int64_t early_ns;     /* it came so much before t_ns at most: see ACCURACY in ipf-results(5); 0: at t_ns */
	int64_t usage_tokens; /* output tokens so far, if the event itself reports usage; IPF_ABSENT */
	int64_t token_ids;    /* tokens coming since the previous content event, if the server lists ids; IPF_ABSENT */
	size_t content_end;   /* length of `content` up to and including this event */
	uint8_t kind;         /* enum event_kind: EVENT_TEXT, or another kind of content */
	uint8_t choice;       /* which of the choices it belongs to, from 0, in the order in which they began */
};

/* Further choices of an answer (`n`) count as the last one. */
enum { RESPONSE_CHOICES_MOST = 128 };

/* Longer ids of the server, with their quotes, are none. */
#define RESPONSE_ID_MOST 256

/* The content of an event. Text wins over reasoning, and that over a tool call. */
enum event_kind {
	EVENT_TEXT,
	EVENT_REASONING,
	EVENT_TOOL,
	EVENT_EMPTY, /* a text that is "" */
	EVENT_ROLE,  /* it opens the answer, without text */
	EVENT_USAGE, /* counts of tokens, and no choice of the answer */
	EVENT_OTHER, /* none of these, such as a finish reason alone */
	EVENT_END,   /* the end mark */
	EVENT_ERROR, /* an error in the stream */
	EVENT_KINDS,
};
extern const char *const event_kind_names[EVENT_KINDS]; /* "text", "reasoning", … */

/* An event that is not a content event. */
struct response_other {
	int64_t t_ns;
	int64_t early_ns; /* as in struct response_event */
	size_t before;    /* how many content events came before it */
	uint8_t kind;     /* EVENT_EMPTY and the values after it */
};

/* A token of an answer with log probabilities. */
struct response_token {
	uint64_t text; /* hash of its text */
	double lead;   /* by how much the most likely token leads the second, in log probability; NAN: not known */
};

struct response {
	struct response_event *events;
	size_t events_count, events_cap;
	struct response_other *others; /* in the order of arrival; only with options.keep_others */
	size_t others_count, others_cap;
	size_t usage_events;   /* content events up to the last report of output tokens: more of them came after it */
	int64_t after_end;     /* content events after the end mark; they are among `events` */
	int64_t first_text_ns; /* time of the first event with text that is not reasoning; IPF_ABSENT */
	enum api_kind kind;
	int64_t audio_ns; /* the length of an answer that is audio; IPF_ABSENT: it is none, or its format is not known */
	int64_t audio_waits_ns; /* how long playback from its first byte on waits for more; IPF_ABSENT as well */
	bool whole;        /* not streamed: the response to a request for a whole one, or a body that is one JSON value */
	bool no_streaming; /* the API has no streamed responses */
	bool one_value;    /* a stream of JSON objects, of which there is one: streamed or not, it looks the same */
	bool parsed;       /* the status was 2xx and the body was read as a response */
	bool ended;        /* the end mark was seen, or is not needed */
	bool failed;       /* the body or the gRPC status reports an error; its message is in error_text */
	bool no_status;    /* gRPC: the response ended without a status */
	bool deadline_exceeded; /* gRPC: the error is DEADLINE_EXCEEDED */
	bool malformed;         /* something does not parse, or violates the API; malformed_text has the fault and the
	                         * place */
	bool compressed;        /* the body is compressed, which malformed_text says, and nothing of it was read */
	bool other_framing;     /* the body is cut into events in another way than the descriptor says; malformed_text */
	bool includes_prompt;   /* the text contains the prompt, whose length is unknown: its tokens cannot be counted */
	bool no_text;           /* the content is data, such as embeddings, and has no tokens */
	int64_t outputs;        /* results of a request with inputs; IPF_ABSENT: the API has none, or nothing was parsed */
	/* The indexes of their inputs, in order, if any has one; those of results without a valid one are -1. */
	int64_t *output_indexes;
	size_t output_indexes_count, output_indexes_cap;
	/* The last usage reported, in which a zero does not replace a count; IPF_ABSENT. */
	int64_t input_tokens, output_tokens, reasoning_tokens, cached_tokens, total_tokens;
	size_t content_bytes, reasoning_bytes; /* the content's, and that of the reasoning in it, as JSON writes them */
	size_t reasoning_events;               /* content events that bring reasoning and no text */
	size_t bare_events;                    /* events that are none: a token of theirs has no text */
	int64_t unread_events;                 /* events of which nothing is read although they have text */
	bool hidden_reasoning;                 /* the model reasoned without sending it, as the descriptor says */
	int64_t choices;                       /* the content events'; 0: none, or the API has no choices */
	int64_t details[API_DETAILS], server_ns[API_SERVER_TIMES]; /* reported by the server; IPF_ABSENT */
	struct buffer finish;          /* the finish reason, in the common words if the descriptor translates it */
	struct buffer finish_server;   /* the server's own word, if it differs */
	struct buffer content;         /* all content in order of arrival, if there is a tokenizer to count it */
	struct buffer text, reasoning; /* each alone, with keep_text */
	/* The ids of the tokens of the answer and of the prompt, where the server lists them: "12,7"; with keep_ids. */
	struct buffer output_ids, prompt_ids;
	/* The tokens for which the server lists log probabilities, of the first choice; with keep_logprobs. */
	struct response_token *tokens;
	size_t tokens_count, tokens_cap, tokens_led; /* led: whose alternatives were read */
	struct tool_calls calls;                     /* if the API's descriptor says where they are */
	struct buffer id;          /* by which a later request continues it, with keep_text; empty: none */
	struct buffer response_id; /* the server's own id of the answer, a JSON text; empty: none */
	struct buffer error_text, malformed_text;

	/* How the body was read, for --explain. */
	const struct api_response *format;
	struct framing framing;
	struct envelope envelope;               /* used if the format has one */
	const struct protobuf_schema *protobuf; /* gRPC: events are messages of type `message`; NULL: events are JSON */
	int message;
	size_t end_event; /* the number of the event, from 0, with the end mark; SIZE_MAX */

	/* private */
	struct jdoc doc;
	struct buffer json, piece, seen_text, seen_reasoning;
	struct buffer likely_error; /* the message of an event that looks like an error, see error_message_likely() */
	struct event_repeat repeat;
	jdoc_id text_node; /* the event's: its last text, and how many it has */
	size_t text_nodes;
	int64_t parts[API_PARTS_MOST]; /* sums of counts, found so far; IPF_ABSENT */
	int64_t choice_indexes[RESPONSE_CHOICES_MOST];
	uint8_t choice, repeat_choice; /* the event's; that of the event in `repeat` */
	int64_t token_ids;             /* listed since the last content event; IPF_ABSENT */
	int64_t listed_ids;            /* ids so far */
	size_t prompt_bytes;           /* to skip at the beginning of the text */
	size_t event;                  /* the number of the event being parsed */
	bool indexes_failed;           /* no memory for output_indexes */
	bool truncated;                /* the body ended in the middle of an event */
	bool virtual_time;             /* as in the options */
	size_t read, read_end;         /* the read in which the last event ended, and where that read ends in the body */
	int64_t before_ns;             /* nothing of this read came earlier: the last time before that of the read */
	int64_t early_ns;              /* the last event's, see struct response_event */
	int64_t last_ns;
};

/* Parses the body of a record. -1: out of memory. */
int response_parse(struct response *r, const struct record *record, const struct api *api,
                   const struct response_options *options, struct ipf_error *err);
void response_release(struct response *r);

#endif
