/* The schema of a Parquet file as a tree of JSON values, and its columns, which are the leaves of the tree.
 *
 *     struct schema_tree tree;
 *     if (schema_tree_build(&tree, &footer, name, &err) < 0) …
 *     tree.root                     // an object: the row
 *     tree.columns[0].path          // "conversation.list.element.content"
 *     schema_tree_release(&tree);
 *
 * Each value of a column comes with two levels. The definition level says how many of the values that may be missing on
 * its path are there; the repetition level says in which list on its path it is a further element. A node says at which
 * levels it is there. Groups annotated as lists and maps are one node with their contents; the older forms without the
 * inner group count too (github.com/apache/parquet-format, LogicalTypes.md, rules 1 to 5).
 */
#ifndef IPF_SCHEMA_TREE_H
#define IPF_SCHEMA_TREE_H

#include "parquet/value_json.h"

#define SCHEMA_DEPTH_MAX 64

enum node_kind { NODE_VALUE, NODE_OBJECT, NODE_LIST, NODE_MAP };

struct schema_node {
	enum node_kind kind;
	char *key; /* `"name":` */
	size_t key_len;
	unsigned def;              /* it is not null from this definition level on */
	unsigned inner_def;        /* a list or map has an element from this level on */
	unsigned inner_rep;        /* the repetition level of further elements of a list or map */
	size_t column, columns;    /* the first column in it, and how many */
	struct schema_node *child; /* the first member; the element of a list; the key of a map */
	struct schema_node *next;  /* the next member; the value of a map */
};

struct schema_column {
	char *path;
	enum physical_type type;
	size_t length; /* size of a value of TYPE_FIXED and TYPE_INT96, in bytes */
	struct value_type value;
	unsigned def, rep; /* the highest levels */
};

struct schema_tree {
	struct schema_node *root, *nodes;
	size_t node_count;
	struct schema_column *columns;
	size_t column_count;
};

/* 0; -1: the schema is malformed or unsupported (IPF_INPUT), or out of memory. */
int schema_tree_build(struct schema_tree *tree, const struct footer *footer, const char *name, struct ipf_error *err);
void schema_tree_release(struct schema_tree *tree);

#endif
