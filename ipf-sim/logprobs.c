#include "logprobs.h"

#include "json/jout.h"

#define TIE 0.6931

/* The candidates of token k by their rank, from 0. */
static double logprob_at(const struct answer *a, int64_t k, int64_t rank)
{
	if (a->script.tie_number == k + 1 && rank < 2)
		return -TIE - 0.001 * (double)rank;
	uint64_t noise = (a->script.fingerprint >> 20) + (uint64_t)k * UINT64_C(2654435761);
	return (rank ? -3 - 0.75 * (double)rank : 0) - 0.001 * (double)(1 + noise % 200);
}

static void quoted(struct answer *a, struct answer_piece piece)
{
	buffer_format(&a->json, "\"%s\"", piece.json);
}

static void write_entry(struct answer *a, int64_t k, int64_t rank)
{
	struct answer_piece piece = answer_candidate_at(a, k, rank);
	buffer_text(&a->json, "{\"token\":");
	quoted(a, piece);
	buffer_format(&a->json, ",\"logprob\":%.4f,\"bytes\":[", logprob_at(a, k, rank));
	for (size_t i = 0; i < piece.bytes.len; i++)
		buffer_format(&a->json, "%s%u", i ? "," : "", (unsigned)(unsigned char)piece.bytes.data[i]);
	buffer_byte(&a->json, ']');
}

static void write_chat(struct answer *a, int64_t from, int64_t count)
{
	buffer_text(&a->json, "{\"content\":[");
	for (int64_t k = from; k < from + count; k++) {
		buffer_text(&a->json, k > from ? "," : "");
		write_entry(a, k, 0);
		buffer_text(&a->json, ",\"top_logprobs\":[");
		for (int64_t rank = 0; rank < a->ask->logprobs - 1; rank++) {
			buffer_text(&a->json, rank ? "," : "");
			write_entry(a, k, rank);
			buffer_byte(&a->json, '}');
		}
		buffer_text(&a->json, "]}");
	}
	buffer_text(&a->json, "]}");
}

static void write_completion(struct answer *a, int64_t from, int64_t count)
{
	struct buffer *json = &a->json;
	buffer_text(json, "{\"tokens\":[");
	for (int64_t k = from; k < from + count; k++) {
		buffer_text(json, k > from ? "," : "");
		quoted(a, answer_candidate_at(a, k, 0));
	}
	buffer_text(json, "],\"token_logprobs\":[");
	for (int64_t k = from; k < from + count; k++)
		buffer_format(json, "%s%.4f", k > from ? "," : "", logprob_at(a, k, 0));
	buffer_text(json, "],\"top_logprobs\":[");
	for (int64_t k = from; k < from + count; k++) {
		buffer_text(json, k > from ? ",{" : "{");
		for (int64_t rank = 0; rank < a->ask->logprobs - 1; rank++) {
			buffer_text(json, rank ? "," : "");
			quoted(a, answer_candidate_at(a, k, rank));
			buffer_format(json, ":%.4f", logprob_at(a, k, rank));
		}
		buffer_byte(json, '}');
	}
	buffer_text(json, "],\"text_offset\":[");
	for (int64_t k = from; k < from + count; k++)
		buffer_format(json, "%s%lld", k > from ? "," : "", (long long)(k * TOKEN_BYTES));
	buffer_text(json, "]}");
}

void logprobs_write(struct answer *a, int64_t from, int64_t count)
{
	if (!a->ask->logprobs || count <= 0)
		buffer_text(&a->json, "null");
	else if (a->ask->chat)
		write_chat(a, from, count);
	else
		write_completion(a, from, count);
}
