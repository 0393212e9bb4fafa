#include "api/early_end.h"

bool early_end(const struct record *record, const struct response *r)
{
	bool ours = record->error == RECORD_HUNG_UP || record->error == RECORD_CANCELLED;
	return record->error != RECORD_OK && !ours && r->parsed && r->ended && !r->failed && !r->malformed;
}

void early_end_describe(int64_t count, int64_t responses, struct buffer *out)
{
	buffer_format(out,
	              "the connection of %lld of %lld response%s ended after the end mark, but before the end of the HTTP "
	              "response: %s complete",
	              (long long)count, (long long)responses, responses == 1 ? "" : "s",
	              count == 1 ? "this answer is" : "these answers are");
}
