#include "parquet/schema_tree.h"

#include "json/jout.h"

#include <stdlib.h>

#define LENGTH_MAX (1 << 20) /* bytes of a value of a fixed length */

/* The walk over the elements, which are in the order of the tree. */
struct builder {
	struct schema_tree *tree;
	const struct footer *footer;
	const char *name;
	size_t at; /* the next element */
	int depth;
	struct buffer path;
	struct ipf_error *err;
};

/* The levels from which a value has inner parts. */
struct levels {
	unsigned def, rep;
};

static struct schema_node *malformed(struct builder *b, const char *why)
{
	ipf_error_at(b->err, IPF_INPUT, b->name, 0, "the schema of the Parquet file is malformed at %s: %s",
	             b->path.len ? b->path.data : "its root", why);
	return NULL;
}

static struct schema_node *node_new(struct builder *b, enum node_kind kind, const struct schema_element *e,
                                    unsigned def)
{
	struct schema_node *node = &b->tree->nodes[b->tree->node_count++];
	struct buffer key = {0};
	struct jout w = {.out = &key};
	jout_string(&w, e->name);
	buffer_byte(&key, ':');
	if (key.failed) {
		buffer_release(&key);
		ipf_error_memory(b->err);
		return NULL;
	}
	*node = (struct schema_node){
		.kind = kind, .key = key.data, .key_len = key.len, .def = def, .column = b->tree->column_count};
	return node;
}

static struct schema_node *value_node(struct builder *b, const struct schema_element *e, struct levels in)
{
	struct schema_node *node = node_new(b, NODE_VALUE, e, in.def);
	if (!node)
		return NULL;
	if (e->type < 0 || e->type >= PHYSICAL_TYPES)
		return malformed(b, "it is a column without a known type");
	if (e->type == TYPE_FIXED && (e->type_length < 1 || e->type_length > LENGTH_MAX))
		return malformed(b, "its values have no possible length");
	struct schema_column *column = &b->tree->columns[b->tree->column_count++];
	*column = (struct schema_column){.path = slice_dup(buffer_all(&b->path)),
	                                 .type = (enum physical_type)e->type,
	                                 .length = e->type == TYPE_INT96 ? 12 : (size_t)e->type_length,
	                                 .value = value_type_of(e),
	                                 .def = in.def,
	                                 .rep = in.rep};
	if (!column->path) {
		ipf_error_memory(b->err);
		return NULL;
	}
	node->columns = 1;
	return node;
}

static struct schema_node *any_node(struct builder *b, struct levels in);

static struct schema_node *object_node(struct builder *b, const struct schema_element *e, struct levels in)
{
	struct schema_node *node = node_new(b, NODE_OBJECT, e, in.def);
	struct schema_node **last = node ? &node->child : NULL;
	for (int64_t i = 0; node && i < e->children; i++) {
		if (!(*last = any_node(b, in)))
			return NULL;
		last = &(*last)->next;
	}
	if (node)
		node->columns = b->tree->column_count - node->column;
	return node;
}

/* The next element, if it is repeated: it makes its parent a list or a map. */
static const struct schema_element *repeated_child(const struct builder *b, const struct schema_element *e)
{
	const struct schema_element *child = &b->footer->elements[b->at];
	return e->children == 1 && b->at < b->footer->element_count && child->repetition == REPETITION_REPEATED ? child
	                                                                                                        : NULL;
}

/* Is the repeated field an element itself, rather than a group around an element? Rules 1 to 4. */
static bool is_element(const struct builder *b, const struct schema_element *list, const struct schema_element *field)
{
	const struct schema_element *inner = &b->footer->elements[b->at];
	struct slice name = field->name, outer = list->name;
	if (field->children != 1 || b->at >= b->footer->element_count || inner->repetition == REPETITION_REPEATED)
		return true;
	return slice_is(name, "array") || (name.len == outer.len + 6 && memcmp(name.data, outer.data, outer.len) == 0 &&
	                                   memcmp(name.data + outer.len, "_tuple", 6) == 0);
}

static struct schema_node *plain_node(struct builder *b, const struct schema_element *e, struct levels in);

/* A list or a map; `field` is its repeated field, which has been taken. */
static struct schema_node *list_node(struct builder *b, const struct schema_element *e,
                                     const struct schema_element *field, struct levels in)
{
	bool map = e->note == NOTE_MAP && field != e;
	struct schema_node *node = node_new(b, map ? NODE_MAP : NODE_LIST, e, in.def);
	struct levels inner = {in.def + 1, in.rep + 1};
	if (!node)
		return NULL;
	if (++b->depth > SCHEMA_DEPTH_MAX)
		return malformed(b, "it is nested too deep");
	node->inner_def = inner.def;
	node->inner_rep = inner.rep;
	if (map || (field != e && !is_element(b, e, field)))
		node->child = any_node(b, inner);
	else
		node->child = plain_node(b, field, inner);
	if (map && node->child && field->children == 2)
		node->child->next = any_node(b, inner);
	if (!node->child || (map && field->children == 2 && !node->child->next))
		return NULL;
	if (map && node->child->kind != NODE_VALUE)
		return malformed(b, "a map whose keys are not single values is not supported");
	b->depth--;
	node->columns = b->tree->column_count - node->column;
	return node;
}

/* An element whose own repetition has been seen to. */
static struct schema_node *plain_node(struct builder *b, const struct schema_element *e, struct levels in)
{
	if (e->children == 0)
		return value_node(b, e, in);
	const struct schema_element *field = repeated_child(b, e);
	bool map = e->note == NOTE_MAP && field && (field->children == 1 || field->children == 2);
	if (!map && !(e->note == NOTE_LIST && field))
		return object_node(b, e, in);
	b->at++;
	size_t len = b->path.len;
	buffer_byte(&b->path, '.');
	buffer_slice(&b->path, field->name);
	struct schema_node *node = list_node(b, e, field, in);
	if (node) {
		b->path.len = len;
		b->path.data[len] = '\0';
	}
	return node;
}

static struct schema_node *any_node(struct builder *b, struct levels in)
{
	if (b->at >= b->footer->element_count)
		return malformed(b, "it has more members than there are elements");
	const struct schema_element *e = &b->footer->elements[b->at++];
	size_t len = b->path.len;
	if (len)
		buffer_byte(&b->path, '.');
	buffer_slice(&b->path, e->name);
	if (b->path.failed) {
		ipf_error_memory(b->err);
		return NULL;
	}
	if (++b->depth > SCHEMA_DEPTH_MAX)
		return malformed(b, "it is nested too deep");
	if (e->children < 0 || (size_t)e->children > b->footer->element_count || e->repetition < 0 ||
	    e->repetition > REPETITION_REPEATED)
		return malformed(b, "its number of members or its repetition is not possible");
	in.def += e->repetition == REPETITION_OPTIONAL;
	struct schema_node *node = e->repetition == REPETITION_REPEATED ? list_node(b, e, e, in) : plain_node(b, e, in);
	b->depth--;
	if (node) {
		b->path.len = len;
		if (b->path.data)
			b->path.data[len] = '\0';
	}
	return node;
}

int schema_tree_build(struct schema_tree *tree, const struct footer *footer, const char *name, struct ipf_error *err)
{
	struct builder b = {.tree = tree, .footer = footer, .name = name, .at = 1, .err = err};
	size_t count = footer->element_count;
	*tree = (struct schema_tree){0};
	if (count == 0 || footer->elements[0].children < 0)
		return ipf_error_at(err, IPF_INPUT, name, 0, "the Parquet file has no schema");
	tree->nodes = calloc(count, 2 * sizeof *tree->nodes); /* a repeated field may be two: a list and its element */
	tree->columns = calloc(count, sizeof *tree->columns);
	if (!tree->nodes || !tree->columns)
		ipf_error_memory(err);
	else
		tree->root = object_node(&b, &footer->elements[0], (struct levels){0});
	if (tree->root && b.at < count)
		malformed(&b, "there are elements behind the last column");
	if (tree->root && !err->kind && tree->column_count == 0)
		malformed(&b, "there is no column");
	buffer_release(&b.path);
	if (!err->kind)
		return 0;
	schema_tree_release(tree);
	return -1;
}

void schema_tree_release(struct schema_tree *tree)
{
	for (size_t i = 0; i < tree->node_count; i++)
		free(tree->nodes[i].key);
	for (size_t i = 0; i < tree->column_count; i++)
		free(tree->columns[i].path);
	free(tree->nodes);
	free(tree->columns);
	*tree = (struct schema_tree){0};
}
