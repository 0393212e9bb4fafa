/* Hash tables with open addressing. A table is an array of entries, each of which begins with a 64-bit key; 0 marks a
 * free entry. The keys should be random in their low bits, as those of text_hash_mixed() are; hash_index_key() makes
 * such a one of any number.
 *
 *     struct prompt_count { uint64_t key; int64_t count; };
 *     struct prompt_count *table = NULL;
 *     size_t room = 0, count = 0;
 *
 *     if (!hash_index_room(table, room, count + 1)) return ipf_error_memory(err);
 *     struct prompt_count *found = hash_index_find(table, room, key);
 *     count += !found->key;
 *     found->key = key;
 *     found->count++;
 *     …
 *     free(table);
 *
 * Several entries may have one key, such as the hash of a text:
 *
 *     struct name *found = hash_index_find(table, room, key);
 *     while (found->key && !slice_equal(found->text, text))
 *         found = hash_index_next(table, room, found);
 *
 * An entry moves when the table grows.
 */
#ifndef IPF_HASH_INDEX_H
#define IPF_HASH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes room for so many entries in all, of which at most three quarters of the table are then in use. `room_` is a
 * size_t, the number of entries of the table, 0 or a power of two. False: out of memory; the table is as it was. */
#define hash_index_room(table_, room_, wanted_)                                                                        \
	((wanted_) <= (room_) / 4 * 3 || hash_index_grow(&(table_), sizeof *(table_), &(room_), (wanted_)))
/* The first entry with this key, or the free one where it belongs. The table has room for one more. */
#define hash_index_find(table_, room_, key_) hash_index_at((table_), sizeof *(table_), (room_), (key_))
/* The next entry with the same key, or the free one where it belongs. */
#define hash_index_next(table_, room_, entry_) hash_index_after((table_), sizeof *(table_), (room_), (entry_))

/* Not 0; different numbers have different keys, but for one that shares its key with another. */
static inline uint64_t hash_index_key(uint64_t number)
{
	number = (number ^ number >> 32) * UINT64_C(0xd6e8feb86659fd93);
	number = (number ^ number >> 32) * UINT64_C(0xd6e8feb86659fd93);
	number ^= number >> 32;
	return number ? number : 1;
}

bool hash_index_grow(void *table, size_t size, size_t *room, size_t wanted);
void *hash_index_at(const void *table, size_t size, size_t room, uint64_t key);
void *hash_index_after(const void *table, size_t size, size_t room, const void *entry);

#endif
