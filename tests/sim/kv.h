/* The KV cache: a fixed number of blocks of KV_BLOCK tokens, some of them known by the hash of the prompt up to their
 * end.
 *
 * A block that nobody uses any more stays findable until it is needed for something else; the one that was dropped
 * longest ago goes first. That is a prefix cache in vLLM's manner.
 *
 *     int32_t b = kv_find(kv, hash);        // -1: nobody computed this prefix lately
 *     if (b >= 0) kv_hold(kv, b);
 *     else if ((b = kv_take(kv)) >= 0) …    // computed: kv_publish(kv, b, hash)
 *     kv_drop(kv, b);
 */
#ifndef SIM_KV_H
#define SIM_KV_H

#include <stddef.h>
#include <stdint.h>

#define KV_BLOCK 16

struct kv;

struct kv *kv_new(int32_t blocks); /* NULL: no memory */
void kv_free(struct kv *kv);

int32_t kv_take(struct kv *kv);                               /* a block of one's own, -1 when all are in use */
int32_t kv_find(const struct kv *kv, uint64_t hash);          /* the block published under this hash, -1 */
void kv_hold(struct kv *kv, int32_t block);                   /* one more user */
void kv_drop(struct kv *kv, int32_t block);                   /* one less */
void kv_publish(struct kv *kv, int32_t block, uint64_t hash); /* nothing where another block has the hash already */

int32_t kv_used(const struct kv *kv); /* blocks that somebody uses */
int32_t kv_total(const struct kv *kv);

#endif
