#include "model/field_names.h"

/* Inlined: names are short, and a call through the library costs as much as the hash. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#define FIRST_SLOTS 256u /* a power of two; holds the fields of most schemas without growing */
#define TEXT_CHUNK_BYTES 4096

typedef struct Entry {
  TideBytes text; /* in texts, never moves */
  guint64 hash;
} Entry;

/* Open addressing with linear probing: a slot holds 1 + the id, 0 is free; at most half of the slots are
 * used. */
struct TideFieldNames {
  GStringChunk *texts; /* owned */
  GArray *entries;     /* owned (element-type Entry), by id */
  guint32 *slots;      /* owned */
  guint32 n_slots;     /* a power of two */
  gsize text_bytes;
};

TideFieldNames *
tide_field_names_new(void)
{
  TideFieldNames *names = g_new0(TideFieldNames, 1);
  names->texts = g_string_chunk_new(TEXT_CHUNK_BYTES);
  names->entries = g_array_new(FALSE, FALSE, sizeof(Entry));
  names->n_slots = FIRST_SLOTS;
  names->slots = g_new0(guint32, names->n_slots);
  return names;
}

void
tide_field_names_free(TideFieldNames *names)
{
  if (names == NULL)
    return;
  g_string_chunk_free(names->texts);
  g_array_unref(names->entries);
  g_free(names->slots);
  g_free(names);
}

static guint64
hash_of(TideBytes name)
{
  return XXH3_64bits(name.len > 0 ? name.data : (const guint8 *)"", name.len);
}

static const Entry *
entry_at(const TideFieldNames *names, TideNameId id)
{
  return &g_array_index(names->entries, Entry, id);
}

/* The slot that holds @name, or the free one where it belongs. */
static guint32
slot_of(const TideFieldNames *names, TideBytes name, guint64 hash)
{
  guint32 slot = (guint32)hash & (names->n_slots - 1);
  while (names->slots[slot] > 0) {
    const Entry *entry = entry_at(names, names->slots[slot] - 1);
    if (entry->hash == hash && tide_bytes_equal(entry->text, name))
      break;
    slot = (slot + 1) & (names->n_slots - 1);
  }
  return slot;
}

TideNameId
tide_field_names_intern(TideFieldNames *names, TideBytes name)
{
  guint64 hash = hash_of(name);
  guint32 slot = slot_of(names, name, hash);
  if (names->slots[slot] > 0)
    return names->slots[slot] - 1;

  guint32 id = names->entries->len;
  if (id >= TIDE_FIELD_NAMES_MAX || name.len > TIDE_FIELD_NAMES_MAX_BYTES - names->text_bytes)
    return TIDE_NAME_NONE;
  if ((id + 1) * 2 > names->n_slots) {
    names->n_slots *= 2;
    g_free(names->slots);
    names->slots = g_new0(guint32, names->n_slots);
    for (guint32 k = 0; k < names->entries->len; k++) {
      const Entry *entry = entry_at(names, k);
      names->slots[slot_of(names, entry->text, entry->hash)] = k + 1;
    }
    slot = slot_of(names, name, hash);
  }
  const char *from = name.len > 0 ? (const char *)name.data : "";
  const char *text = g_string_chunk_insert_len(names->texts, from, (gssize)name.len);
  Entry entry = {.text = tide_bytes(text, name.len), .hash = hash};
  g_array_append_val(names->entries, entry);
  names->slots[slot] = id + 1;
  names->text_bytes += name.len;
  return id;
}

TideFieldNames *
tide_field_names_copy(const TideFieldNames *names)
{
  TideFieldNames *copy = tide_field_names_new();
  for (guint32 id = 0; id < names->entries->len; id++) {
    TideNameId same_id = tide_field_names_intern(copy, entry_at(names, id)->text);
    g_assert(same_id == id);
  }
  return copy;
}

TideNameId
tide_field_names_find(const TideFieldNames *names, TideBytes name)
{
  guint32 slot = slot_of(names, name, hash_of(name));
  return names->slots[slot] > 0 ? names->slots[slot] - 1 : TIDE_NAME_NONE;
}

TideBytes
tide_field_names_text(const TideFieldNames *names, TideNameId id)
{
  return id < names->entries->len ? entry_at(names, id)->text : TIDE_BYTES_EMPTY;
}

guint32
tide_field_names_count(const TideFieldNames *names)
{
  return names->entries->len;
}

gboolean
tide_field_name_is_of_record(TideBytes name)
{
  static const TideBytes exact[] = {
      {(const guint8 *)"$key", 4},    {(const guint8 *)"$topic", 6},      {(const guint8 *)"$partition", 10},
      {(const guint8 *)"$offset", 7}, {(const guint8 *)"$timestamp", 10}, {(const guint8 *)TIDE_FIELD_TAGS, 5},
  };
  if (name.len == 0 || name.data[0] != '$')
    return FALSE;
  for (gsize i = 0; i < G_N_ELEMENTS(exact); i++)
    if (tide_bytes_equal(name, exact[i]))
      return TRUE;
  const TideBytes header = TIDE_BYTES_LITERAL("$header.");
  return name.len > header.len && tide_bytes_begin_with(name, header);
}
