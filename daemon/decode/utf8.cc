#include "decode/utf8.h"

#include <simdjson.h>

gboolean
tide_utf8_is_valid_at_length(const guint8 *text, gsize len)
{
  return simdjson::validate_utf8(reinterpret_cast<const char *>(text), len);
}
