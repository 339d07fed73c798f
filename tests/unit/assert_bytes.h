/* g_assert_cmpmem() passes lengths through int, which -Wconversion refuses; and it does not say where bytes differ. */
#pragma once

#include "util/bytes.h"

static inline void
assert_bytes_equal(TideBytes got, TideBytes expected)
{
  if (tide_bytes_equal(got, expected))
    return;
  gsize at = 0;
  while (at < MIN(got.len, expected.len) && got.data[at] == expected.data[at])
    at++;
  g_error("bytes differ at %" G_GSIZE_FORMAT ": got %" G_GSIZE_FORMAT " bytes, expected %" G_GSIZE_FORMAT, at, got.len,
          expected.len);
}
