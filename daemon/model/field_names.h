/* Field names as small numbers. The configuration first interns the names it uses (0, 1, 2, ...). Then each consumer
 * thread works on its own copy and adds the names it meets, so that nothing is shared. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

typedef guint32 TideNameId;
#define TIDE_NAME_NONE G_MAXUINT32

/* Limits the memory of invented names: beyond these, a name has no number, which only costs speed. */
#define TIDE_FIELD_NAMES_MAX 65536u
#define TIDE_FIELD_NAMES_MAX_BYTES (4u * 1024 * 1024)

/* @ids: (element-type TideNameId): a few. */
static inline gboolean
tide_name_ids_contain(const GArray *ids, TideNameId id)
{
  for (guint i = 0; i < ids->len; i++)
    if (g_array_index(ids, TideNameId, i) == id)
      return TRUE;
  return FALSE;
}

typedef struct TideFieldNames TideFieldNames;

TideFieldNames *tide_field_names_new(void);
TideFieldNames *tide_field_names_copy(const TideFieldNames *names); /* same ids */
void tide_field_names_free(TideFieldNames *names);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideFieldNames, tide_field_names_free)

/* The number of @name, added if new; TIDE_NAME_NONE if the table is full. Threads: the owner's only. */
TideNameId tide_field_names_intern(TideFieldNames *names, TideBytes name);
TideNameId tide_field_names_find(const TideFieldNames *names, TideBytes name); /* TIDE_NAME_NONE: unknown */
TideBytes tide_field_names_text(const TideFieldNames *names, TideNameId id);
guint32 tide_field_names_count(const TideFieldNames *names);

/* Reserved names of the record's own values: "$key", "$topic", "$partition", "$offset", "$timestamp" (epoch ms) and
 * "$header.NAME"; and TIDE_FIELD_TAGS of line protocol. They become fields of the reading only if the configuration
 * names them. */
gboolean tide_field_name_is_of_record(TideBytes name);

/* All tags of a line, as "name=value,name=value" in the order of the names: decode/influx_lines.c. */
#define TIDE_FIELD_TAGS "$tags"

G_END_DECLS
