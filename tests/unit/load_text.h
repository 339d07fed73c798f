/* A configuration out of a test's own text, which must be right. */
#pragma once

#include "config/config.h"

/* (transfer full) */
static inline TideConfig *
load_text(const char *yaml)
{
  g_autoptr(GPtrArray) problems = NULL;
  TideConfig *config = tide_config_load_text("test.yaml", tide_bytes_of_string(yaml), &problems);
  g_assert_nonnull(config);
  return config;
}
