/* The types of the generated code and of Thrift's library: registered before threads exist, and repaired. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Call once in main, before any thread. Registration of these types is not thread-safe (eight threads that start
 * together see "cannot register existing type"), and their finalizers do not chain up, so that each object leaks some
 * 70 bytes; they do after this. Tests that use the generated code call it, too. */
void tide_generated_types_init(void);

G_END_DECLS
