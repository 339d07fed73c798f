#include "decode/utf8.h"

#include <simdjson.h>

gboolean
tide_utf8_is_valid(const guint8 *text, gsize len)
{
  return len == 0 || simdjson::validate_utf8(reinterpret_cast<const char *>(text), len);
}
