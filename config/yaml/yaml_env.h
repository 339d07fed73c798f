/* Values out of the environment: `{ env: NAME }` in place of any scalar that is no secret. A secret in the environment is
 * seen by whoever may look at the process; it has files and credentials of its own (secret.h). */
#pragma once

#include "config/yaml/yaml_tree.h"

G_BEGIN_DECLS

/* Replaces each `{ env: NAME }` in @node by the text of that variable, which is taken as if it stood in quotes; but for the
 * values of keys that name secrets. A variable that is not set, empty, or not UTF-8 is added to @problems. */
void tide_yaml_put_in_environment(TideYamlNode *node, GPtrArray *problems);

G_END_DECLS
