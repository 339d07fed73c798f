/* YAML as a tree of nodes that know their position. Only this file and masked_line.c use libyaml. A configuration needs
 * a small part of YAML, and the rest is surprising. Rejected are anchors, aliases and tags, a key that occurs twice in
 * a mapping, tabs outside comments, more than one document, and text that is not UTF-8. Scalars keep their text; no
 * type is inferred (007 stays 007). Limits bound the cost of a hostile file. */
#pragma once

#include "config/yaml/problem.h"
#include "util/bytes.h"

G_BEGIN_DECLS

#define TIDE_YAML_MAX_BYTES (1024u * 1024)
#define TIDE_YAML_MAX_DEPTH 32u    /* nesting depth of lists and mappings; the grammar needs 8 */
#define TIDE_YAML_MAX_NODES 10000u /* a table of 20 columns has about 100 */

typedef enum TideYamlKind { TIDE_YAML_SCALAR, TIDE_YAML_LIST, TIDE_YAML_MAPPING } TideYamlKind;

typedef struct TideYamlNode {
  TideYamlKind kind;
  TideSourcePosition position;
  char *text;         /* owned; SCALAR: NUL-terminated */
  gsize len;          /* SCALAR: length of text, which may contain a NUL ("\0" in double quotes) */
  gboolean is_quoted; /* SCALAR: quoted, or in block style */
  gboolean is_secret; /* SCALAR: possibly a secret, by the keys above it: never shown */
  GPtrArray *keys;    /* owned (element-type TideYamlNode); MAPPING: scalars, no two of one text */
  GPtrArray *values;  /* owned (element-type TideYamlNode); MAPPING: beside keys. LIST: the items */
} TideYamlNode;

/**
 * tide_yaml_parse: the tree of the single document in @text. Problems are added to @problems as errors; the tree is
 * still returned if it could be built, so that more problems can be found. Returns: (transfer full) (nullable): NULL if
 * the text is not YAML, exceeds a limit, or is empty.
 */
TideYamlNode *tide_yaml_parse(TideBytes text, GPtrArray *problems) G_GNUC_WARN_UNUSED_RESULT;

void tide_yaml_node_free(TideYamlNode *node); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideYamlNode, tide_yaml_node_free)

/* TRUE for an empty value, for an unquoted ~ or null, and for NULL. */
gboolean tide_yaml_is_null(const TideYamlNode *node);

/* The value of @key; NULL if @mapping is not a mapping or has no such key. */
const TideYamlNode *tide_yaml_get(const TideYamlNode *mapping, const char *key);

/* The items of a list; a node that is not a list is its own only item. */
gsize tide_yaml_n_items(const TideYamlNode *node);
const TideYamlNode *tide_yaml_item(const TideYamlNode *node, gsize index);

/* The value at @path, keys joined by dots: "readings.time.zone". */
const TideYamlNode *tide_yaml_find(const TideYamlNode *root, const char *path);

/* @scalar, or a key, for use inside '...' in a message: quoted by tide_problem_quote(), *** for a secret. (transfer
 * full) */
char *tide_yaml_quote(const TideYamlNode *scalar);

/* "a mapping", "a list", "nothing", or the quoted scalar, *** for a secret, for messages like "must be ..., got %s".
 * (transfer full) */
char *tide_yaml_describe(const TideYamlNode *node);

G_END_DECLS
