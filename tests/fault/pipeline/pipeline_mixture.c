#include "fault/pipeline/pipeline_mixture.h"

void
pipeline_produce_mixture_from(PipelineFixture *fixture, guint first, guint n_steps)
{
  for (guint step = first; step < first + n_steps; step++)
    for (guint host = 0; host < 8; host++) {
      guint late = step % 7 == 3 ? step - 3 : step; /* the reading of three steps ago comes again */
      g_autofree char *name = g_strdup_printf("host%u", host);
      g_autofree char *value = g_strdup_printf("%u.%u", late, host);
      pipeline_fixture_produce(fixture, (gint32)(host % FIXTURE_PARTITIONS), name, PIPELINE_BASE_MS + late * 1000,
                               value);
    }
  pipeline_fixture_flush(fixture);
}

void
pipeline_produce_mixture(PipelineFixture *fixture, guint n_steps)
{
  pipeline_produce_mixture_from(fixture, 0, n_steps);
}

static char *
dump_tables(PipelineFixture *fixture)
{
  g_autofree char *history = fake_hbase_dump(fixture->hbase, "METRIC", FALSE);
  g_autofree char *latest = fake_hbase_dump(fixture->hbase, "CURRENT_METRIC", FALSE);
  return g_strconcat(history, latest, NULL);
}

/* What pipeline_produce_mixture() must leave, by an own small calculation. */
static char *
expected_tables(guint n_steps)
{
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint host = 0; host < 8; host++)
    for (guint step = 0; step < n_steps; step++)
      if (step % 7 != 3)
        g_string_append_printf(text, "host%u#%" G_GINT64_FORMAT "\tM:v\t%" G_GINT64_FORMAT "\t%u.%u\n", host,
                               PIPELINE_BASE_MS + step * 1000, PIPELINE_BASE_MS + step * 1000, step, host);
  guint newest = n_steps - 1;
  while (newest % 7 == 3)
    newest--;
  for (guint host = 0; host < 8; host++)
    g_string_append_printf(text, "host%u\tM:v\t%" G_GINT64_FORMAT "\t%u.%u\n", host, PIPELINE_BASE_MS + newest * 1000,
                           newest, host);
  return g_string_free(g_steal_pointer(&text), FALSE);
}

void
pipeline_assert_tables(PipelineFixture *fixture, guint n_steps)
{
  g_autofree char *found = dump_tables(fixture);
  g_autofree char *expected = expected_tables(n_steps);
  g_assert_cmpstr(found, ==, expected);
}
