/* Values of JSON that are compared as JSON Schema does: numbers by their value, objects without regard to the order of
 * their members. */
#ifndef JSON_SCHEMA_JSON_VALUE_H
#define JSON_SCHEMA_JSON_VALUE_H

#include "json/jdoc.h"

struct json_value {
	const struct jdoc *doc;
	jdoc_id at;
};

/* Whether two texts have the same characters. `room` is scratch space. */
bool json_texts_equal(struct json_value a, struct json_value b, struct buffer room[2]);
bool json_values_equal(struct json_value a, struct json_value b, struct buffer room[2]);
/* Equal values have the same hash. */
uint64_t json_value_hash(struct json_value value, struct buffer *room);
/* The value of the member of a map whose key has the characters of the text `key`; JDOC_NONE. */
jdoc_id json_member(struct json_value map, struct json_value key, struct buffer room[2]);
/* The characters of a text: those of the document where it has no escapes, else decoded into `room`. */
struct slice json_characters(struct json_value text, struct buffer *room);
/* Appends the JSON pointer (RFC 6901) of a node, shortened to `most` bytes. That of the root is empty. */
void json_pointer(const struct jdoc *doc, jdoc_id node, size_t most, struct buffer *out);
/* The node of a pointer, which begins with "/" or is empty; JDOC_NONE. */
jdoc_id json_pointed(const struct jdoc *doc, jdoc_id from, struct slice pointer);

#endif
