/* The raw server's answers: HTTP/1.1, chunked, an event of a chat's stream in each chunk. All events are the same but
 * for the request's number, their own, and the time at which they were sent, which are written into a copy of one made
 * in advance:
 *
 *     data: {"id":"chatcmpl-00000017","object":"chat.completion.chunk",…,"sent_ns":"1763631294000000000",…{"content":"
 * w00042"}…}
 *
 * The last one is followed, in the same piece, by usage and [DONE].
 */
#ifndef BENCH_RAWANSWER_H
#define BENCH_RAWANSWER_H

#include <stddef.h>
#include <stdint.h>

#define RAWANSWER_BATCH 1024                           /* most events in a piece */
#define RAWANSWER_ROOM  (RAWANSWER_BATCH * 256 + 1024) /* bytes of the largest piece */

void rawanswer_init(void); /* before the others */

/* Writes events `from` to `from + count - 1` of `all` of a request, and the text before the first and after the last.
 * Returns its length. `real_ns` (CLOCK_REALTIME) becomes each event's sent_ns. */
size_t rawanswer_write(char *to, uint32_t request, int64_t from, int64_t count, int64_t all, int64_t real_ns);

/* A whole response of its own. */
size_t rawanswer_models(char *to);
size_t rawanswer_refusal(char *to, int status, const char *why);

#endif
