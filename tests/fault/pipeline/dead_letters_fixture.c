#include "fault/pipeline/dead_letters_fixture.h"

void
dead_letters_fixture_set_up(PipelineFixture *fixture, gconstpointer data)
{
  pipeline_fixture_set_up(fixture, data);
  mock_kafka_create_topic(fixture->kafka, DEAD_LETTERS, 1);
  scripted_gateway_create_table(fixture->gateways[0], "INDEX", "M", NULL);
  fake_hbase_set_max_cell_bytes(fixture->hbase, MAX_CELL_BYTES);
}

/* A value that HBase refuses. (transfer full) */
char *
dead_letters_fixture_oversized(void)
{
  return g_strnfill(MAX_CELL_BYTES + 1, 'x');
}

void
dead_letters_fixture_assert_bytes(GBytes *found, TideBytes wanted)
{
  g_assert_nonnull(found);
  gsize len;
  gconstpointer data = g_bytes_get_data(found, &len);
  g_assert_true(tide_bytes_equal(tide_bytes(data, len), wanted));
}

void
dead_letters_fixture_assert_header(const TideMockRecord *dead_letter, const char *name, const char *wanted)
{
  g_autoptr(GBytes) value = mock_record_header(dead_letter, name);
  if (wanted == NULL)
    g_assert_null(value);
  else
    dead_letters_fixture_assert_bytes(value, tide_bytes_of_string(wanted));
}

GPtrArray *
dead_letters_fixture_read(PipelineFixture *fixture)
{
  return mock_kafka_read_topic(fixture->kafka, DEAD_LETTERS, 1, pipeline_fixture_deadline_us());
}

/* Exactly one dead letter, of that message. */
void
dead_letters_fixture_assert_only(PipelineFixture *fixture, const char *partition, const char *offset)
{
  g_autoptr(GPtrArray) dead_letters = dead_letters_fixture_read(fixture);
  g_assert_cmpuint(dead_letters->len, ==, 1);
  dead_letters_fixture_assert_header(g_ptr_array_index(dead_letters, 0), TIDE_DEAD_LETTER_HEADER_TOPIC, FIXTURE_TOPIC);
  dead_letters_fixture_assert_header(g_ptr_array_index(dead_letters, 0), TIDE_DEAD_LETTER_HEADER_PARTITION, partition);
  dead_letters_fixture_assert_header(g_ptr_array_index(dead_letters, 0), TIDE_DEAD_LETTER_HEADER_OFFSET, offset);
  dead_letters_fixture_assert_header(g_ptr_array_index(dead_letters, 0), TIDE_DEAD_LETTER_HEADER_REASON,
                                     TIDE_DEAD_LETTER_REASON_REFUSED);
}

void
dead_letters_fixture_assert_value(PipelineFixture *fixture, const char *table, const char *row, const char *qualifier,
                                  const char *wanted)
{
  g_autoptr(GBytes) value = fake_hbase_value(fixture->hbase, table, row, "M", qualifier, NULL);
  if (wanted == NULL)
    g_assert_null(value);
  else
    dead_letters_fixture_assert_bytes(value, tide_bytes_of_string(wanted));
}

guint64
dead_letters_fixture_sum(RunningPipeline *running, const char *metric)
{
  return tide_metrics_sum(running->metrics, metric, NULL);
}
