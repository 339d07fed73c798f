/* The survey of sample messages, given as lines of text. */
#pragma once

#include "commands/init/init_samples.h"

/* (transfer full) */
static inline TideInitSamples *
read_samples_as(TideInitForm form, TideBytes text)
{
  g_autoptr(GError) error = NULL;
  TideInitSamples *samples = tide_init_samples_new(form);
  FILE *stream = text.len > 0 ? fmemopen((gpointer)(gsize)text.data, text.len, "r") : fopen("/dev/null", "r");
  g_assert_true(tide_init_samples_read_stream(samples, stream, "the test", 1000, &error));
  g_assert_no_error(error);
  fclose(stream);
  return samples;
}

static inline TideInitSamples *
read_samples_of(TideReadingFormat format, TideBytes text)
{
  return read_samples_as((TideInitForm){.format = format}, text);
}

/* Of JSON. (transfer full) */
static inline TideInitSamples *
read_samples(const char *text)
{
  return read_samples_of(TIDE_FORMAT_JSON, tide_bytes_of_string(text));
}
