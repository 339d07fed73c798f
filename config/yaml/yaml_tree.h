/* YAML as a tree of nodes that know their position. This file and masked_line.c alone know libyaml.
 *
 * A configuration needs little of YAML, and the rest of it surprises: refused are anchors, aliases and tags,
 * a key that stands twice in a mapping, tabs outside of comments, more than one document, text that is not
 * UTF-8. Scalars are text as they were written; nothing is guessed from their look (007 stays 007). Limits
 * keep a hostile file cheap. */
#pragma once

#include "config/yaml/problem.h"
#include "util/bytes.h"

G_BEGIN_DECLS

#define TIDE_YAML_MAX_BYTES (1024u * 1024)
#define TIDE_YAML_MAX_DEPTH 32u    /* lists and mappings in one another; the grammar needs 8 */
#define TIDE_YAML_MAX_NODES 10000u /* a table of 20 columns has about 100 */

typedef enum TideYamlKind { TIDE_YAML_SCALAR, TIDE_YAML_LIST, TIDE_YAML_MAPPING } TideYamlKind;

typedef struct TideYamlNode {
  TideYamlKind kind;
  TideSourcePosition position;
  char *text;         /* owned; SCALAR: NUL-terminated */
  gsize len;          /* SCALAR: bytes of text, which may hold a NUL ("\0" in double quotes) */
  gboolean is_quoted; /* SCALAR: or written as a block */
  gboolean is_secret; /* SCALAR: may be one, by the keys above it: never shown */
  GPtrArray *keys;    /* owned (element-type TideYamlNode); MAPPING: scalars, no two of one text */
  GPtrArray *values;  /* owned (element-type TideYamlNode); MAPPING: beside keys. LIST: the items */
} TideYamlNode;

/**
 * tide_yaml_parse: the tree of the one document in @text.
 * Problems found are added to @problems as errors; the tree is still returned where it could be built, so
 * that more can be found. Returns: (transfer full) (nullable): NULL when the text is no YAML, passes a limit,
 * or is empty.
 */
TideYamlNode *tide_yaml_parse(TideBytes text, GPtrArray *problems) G_GNUC_WARN_UNUSED_RESULT;

void tide_yaml_node_free(TideYamlNode *node); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideYamlNode, tide_yaml_node_free)

/* TRUE for what was left empty, and for an unquoted ~ or null. NULL is null, too. */
gboolean tide_yaml_is_null(const TideYamlNode *node);

/* The value of @key; NULL when @mapping is none or has no such key. */
const TideYamlNode *tide_yaml_get(const TideYamlNode *mapping, const char *key);

/* The items of a list; what is none is its own only item. */
gsize tide_yaml_n_items(const TideYamlNode *node);
const TideYamlNode *tide_yaml_item(const TideYamlNode *node, gsize index);

/* The value at @path, keys joined by dots: "readings.time.zone". */
const TideYamlNode *tide_yaml_find(const TideYamlNode *root, const char *path);

/* @scalar, a key too, for use inside of '...' in a message: by tide_problem_quote(), *** for a secret. (transfer full)
 */
char *tide_yaml_quote(const TideYamlNode *scalar);

/* "a mapping", "a list", "nothing", or the scalar in quotes, *** for a secret: for "must be ..., got %s". (transfer
 * full) */
char *tide_yaml_describe(const TideYamlNode *node);

G_END_DECLS
