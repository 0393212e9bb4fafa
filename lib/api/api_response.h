/* The response half of an API descriptor, compiled: how a body is cut into events, and where in an event to find text,
 * token counts, the finish reason, errors and the end mark. response.h applies it.
 */
#ifndef IPF_API_RESPONSE_H
#define IPF_API_RESPONSE_H

#include "api/api_pointer.h"
#include "api/api_roots.h"
#include "api/descriptor_check.h"
#include "api/framing.h"
#include "api/tool_calls.h"

enum { API_PARTS_MOST = 48 };

enum api_text_mode { API_DELTA, API_CUMULATIVE, API_CUMULATIVE_WITH_PROMPT, API_PREFIX };

/* Timings the server reports about itself, under names that all APIs share; each becomes `server_NAME_ns` in the
 * results. */
enum api_server_time {
	API_SERVER_LOAD,      /* loading the model */
	API_SERVER_QUEUE,     /* from arrival until processing begins */
	API_SERVER_PREFILL,   /* processing the prompt */
	API_SERVER_TTFT,      /* from arrival to the first token */
	API_SERVER_DECODE,    /* from the first to the last token */
	API_SERVER_TPOT,      /* the same, per token */
	API_SERVER_INFERENCE, /* prefill and decode, without the queue */
	API_SERVER_TOTAL,     /* from arrival to the end of the response */
	/* servers that prefill and decode on different machines */
	API_SERVER_PREFILL_QUEUE, /* waiting for the machine that prefills */
	API_SERVER_KV_TRANSFER,   /* moving the prompt's KV cache to the machine that decodes */
	API_SERVER_DECODE_QUEUE,  /* waiting for the machine that decodes */
	API_SERVER_TIMES
};
extern const char *const api_server_time_names[API_SERVER_TIMES]; /* in the descriptor */

/* Counts of a request's work inside the server, under names that all APIs share. */
enum api_detail {
	API_CACHED_DEVICE, /* parts of cached_tokens, by where the prefix cache kept them: memory of the accelerator */
	API_CACHED_HOST,   /* memory of the server's machine */
	API_CACHED_DISK,   /* files of the server's machine */
	API_CACHED_REMOTE, /* storage of other machines */
	API_CACHE_WRITE,   /* prompt tokens that were put into the prefix cache */
	API_IMAGE,         /* prompt tokens of images */
	API_AUDIO,         /* prompt tokens of audio */
	API_OUTPUT_AUDIO,  /* output tokens of audio */
	API_SPEC_DRAFTS,   /* speculative decoding: drafts the model verified */
	API_SPEC_DRAFT,    /* their tokens */
	API_SPEC_ACCEPTED, /* those of them that the model accepted */
	API_DETAILS
};
extern const char *const api_detail_names[API_DETAILS]; /* in the descriptor and in the results */

struct api_timing {
	struct api_pointers at;   /* no pointer and no header: the server does not report this time */
	struct api_pointers from; /* if not empty, `at` and `from` are points in time and their difference counts */
	double unit_ns;
};

/* Translates a server's finish reason to one of ours: stop, length, tool_calls, content_filter, error. */
struct api_finish_word {
	char *server;
	char *common; /* NULL: the server's word means "not finished yet" */
};

struct api_response {
	enum framing_kind framing;
	enum api_text_mode text_mode;
	bool envelope; /* the body is an Amazon event stream; `framing` applies to its payloads (envelope.h) */
	struct api_pointers text, reasoning; /* alternatives; all nodes the chosen one matches are joined */
	struct api_pointers prefix_len;      /* API_PREFIX: characters of the text so far to keep before the new text */
	struct api_pointers data;            /* content that is not text, such as embeddings: anything but null */
	struct api_pointers outputs;         /* the results, one for each input: every node the first pointer with any
	                                      * matches */
	struct api_pointers output_index;    /* the index of the input each result is for */
	char *text_after;                    /* the text begins after the first occurrence of this; NULL */
	struct api_pointers tools;           /* no alternatives: names and arguments of tool calls the model wrote */
	struct api_call_places calls;        /* the same as calls, with their ids */
	struct api_pointers finish, error;   /* alternatives */
	struct api_pointers input_tokens, output_tokens, reasoning_tokens, cached_tokens; /* usage; alternatives */
	struct api_pointers total_tokens;     /* input and output together; alternatives */
	size_t parts;                         /* over all sums together; at most API_PARTS_MOST */
	struct api_pointers hidden_reasoning; /* signs that the model reasons without sending it */
	struct api_pointers choice;           /* the index of the choice an event belongs to */
	struct api_pointers details[API_DETAILS];
	struct api_pointers token_ids; /* the ids of the tokens in the event: arrays, or one id */
	/* Per token, if log probabilities were requested: its text; its likely alternatives, a list of {"token","logprob"}
	 * or a map of log probabilities by token. */
	struct api_pointers logprob_tokens, top_logprobs;
	struct api_pointers prompt_token_ids; /* those of the prompt, in an event up to the first with content */
	struct api_pointers role;             /* members of an event that only opens the answer: its role */
	struct api_pointers id;               /* by which a later request continues this answer */
	struct api_pointers response_id;      /* the server's own id of the answer */
	char *error_event;                    /* SSE: an event of this name is an error, whatever its data; NULL: none */
	char *end_data;                       /* SSE: data ending the stream ("[DONE]"); NULL: none */
	struct api_pointers end_when; /* the stream ends when one of these matches; end_mark.h lists values that are no
	                               * end */
	bool end_final;               /* no content may follow the end mark */
	int64_t pcm_rate;             /* FRAMING_BYTES: samples a second of audio without a header; 0: it has one */
	bool content_required;        /* a response without content is a failure, even if it is complete */
	bool end_at_eof;   /* there is no end mark but the end of the transfer (never for gRPC, which ends with a status) */
	bool end_at_usage; /* a finish reason, a count of output tokens and the end of the transfer do, where the end mark
	                      is missing */
	struct api_finish_word *finish_words;
	size_t finish_words_count;
	struct api_timing times[API_SERVER_TIMES];
	struct api_roots roots; /* for all counts and timings */
	bool has_headers;       /* some count or timing may come from a response header */
};

/* Compiles the object "response" or "response_whole". -1: out of memory or a descriptor error; *response needs
 * releasing in any case. Zero-initialise it. */
int api_response_compile(struct descriptor_place at, json_t *json, struct api_response *response,
                         struct ipf_error *err);
void api_response_release(struct api_response *response);

/* The response headers that token counts and timings are read from (lower case); i = 0, 1, … until NULL. */
const char *api_response_used_header(const struct api_response *response, size_t i);

#endif
