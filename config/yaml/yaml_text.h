/* Writes YAML, for the configuration in force and for samples. The output reads back as the same values. */
#pragma once

#include "config/yaml/yaml_tree.h"

G_BEGIN_DECLS

/* Appends @text as a scalar: plain if that reads back as the same text, otherwise in double quotes. */
void tide_yaml_append_scalar(GString *out, const char *text, gsize len);

/* Appends @node: mappings down to @block_levels in block style, indented by @indent spaces, deeper ones in flow style.
 * The caller has written "key:"; the output starts with a space or a newline and ends with a newline. */
void tide_yaml_append_node(GString *out, const TideYamlNode *node, guint indent, guint block_levels);

G_END_DECLS
