/* The names of one reading that have no number (the table of field names is full), to find duplicates among
 * them. Zero-initialised is empty and valid; takes no memory before the first such name. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

typedef struct TideNameSetSlot {
  TideBytes name;     /* borrowed */
  guint32 generation; /* of the reading it belongs to; any other means free */
} TideNameSetSlot;

typedef struct TideNameSet {
  TideNameSetSlot *slots; /* owned */
  guint32 n_slots;        /* a power of two */
  guint32 n_names;        /* of generation */
  guint32 generation;
} TideNameSet;

void tide_name_set_clear_memory(TideNameSet *set);

/* Empties it, at no cost. */
void tide_name_set_reset(TideNameSet *set);

/* FALSE when @name is in it already. @name: borrowed until the next reset. */
gboolean tide_name_set_add(TideNameSet *set, TideBytes name) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
