/* Writes YAML: for the configuration in force, and for samples. What is written here reads back as the same.
 */
#pragma once

#include "config/yaml/yaml_tree.h"

G_BEGIN_DECLS

/* Appends @text as a scalar: plain where that reads back as the same text, else in double quotes. */
void tide_yaml_append_scalar(GString *out, const char *text, gsize len);

/* Appends @node: mappings down to @block_levels in lines of their own, indented by @indent spaces, what is
 * below them in braces and brackets. The caller has written "key:"; this begins with a space or a newline and
 * ends with a newline. */
void tide_yaml_append_node(GString *out, const TideYamlNode *node, guint indent, guint block_levels);

G_END_DECLS
