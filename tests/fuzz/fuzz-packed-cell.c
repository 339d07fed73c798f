/* A packed value out of any bytes; the first says whether it is JSON or MessagePack. What can be read must be whole,
 * and pack and read again as the same. */
#include "commands/read/cell_reader.h"
#include "util/error.h"

#include "decode/json_text.h"

#include <stdint.h>

#define REQUIRE(condition)                                                                                             \
  do {                                                                                                                 \
    if (!(condition))                                                                                                  \
      g_error("%s", #condition);                                                                                       \
  } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Packs again what is read, and writes down names and texts. */
typedef struct Taken {
  TidePacker packer;
  TideBuffer notes;
  guint n_members;
} Taken;

static void
note(TideBuffer *notes, TideBytes bytes)
{
  tide_buffer_append(notes, &bytes.len, sizeof bytes.len);
  tide_buffer_append_bytes(notes, bytes);
}

static gboolean
take_member(TideBytes name, TideValueKind kind, TideBytes text, gpointer data)
{
  Taken *taken = data;
  taken->n_members++;
  note(&taken->notes, name);
  note(&taken->notes, text);
  tide_packer_add(&taken->packer, name, kind, text);
  REQUIRE(kind != TIDE_VALUE_NULL || text.len == 0);
  REQUIRE(kind != TIDE_VALUE_BOOL || text.len == 4 || text.len == 5);
  REQUIRE(kind != TIDE_VALUE_JSON || (text.len >= 2 && tide_json_utf8_fault(text) < 0));
  if (kind == TIDE_VALUE_NUMBER) {
    g_autofree char *number = g_strndup((const char *)text.data, text.len);
    REQUIRE(tide_json_number_end((const guint8 *)number) == (const guint8 *)number + text.len);
  }
  return TRUE;
}

static gboolean
take(TidePacking packing, TideBytes value, TideBuffer *packed, TideBuffer *notes)
{
  Taken taken = {0};
  g_autoptr(GError) error = NULL;
  tide_packer_begin(&taken.packer, packing, packed);
  gboolean is_read = tide_packed_read(packing, value, take_member, &taken, &error);
  REQUIRE(is_read == (error == NULL));
  REQUIRE(is_read || (taken.n_members == 0 && error->domain == TIDE_ERROR));
  REQUIRE(tide_packer_end(&taken.packer) == (taken.n_members > 0));
  *notes = taken.notes;
  return is_read;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (size == 0)
    return 0;
  TidePacking packing = data[0] & 1 ? TIDE_PACK_MSGPACK : TIDE_PACK_JSON;
  g_auto(TideBuffer) packed = {0}, again = {0}, notes = {0}, same_notes = {0};
  if (!take(packing, tide_bytes(data + 1, size - 1), &packed, &notes) || packed.len == 0)
    return 0;
  REQUIRE(take(packing, tide_buffer_bytes(&packed), &again, &same_notes));
  REQUIRE(tide_bytes_equal(tide_buffer_bytes(&notes), tide_buffer_bytes(&same_notes)));
  return 0;
}
