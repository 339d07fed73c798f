/* Sample messages out of texts: which are read, and what is said of those that cannot be. */
#include "commands/init/init_samples.h"

#include "unit/sample_survey.h"
#include "unit/test_case.h"
#include "util/error.h"

static void
assert_read(const char *text, guint n_messages, guint n_readings, guint n_bad)
{
  g_autoptr(TideInitSamples) samples = read_samples(text);
  g_test_message("%s", text);
  g_assert_cmpuint(samples->messages->len, ==, n_messages);
  g_assert_cmpuint(samples->survey->n_readings, ==, n_readings);
  g_assert_cmpuint(samples->n_bad, ==, n_bad);
}

TEST("/init-samples/forms")
{
  assert_read("{\"a\":1}", 1, 1, 0);
  assert_read("{\"a\":1}\n\n \n{\"a\":2}\n", 2, 2, 0);
  assert_read("[{\"a\":1},{\"a\":2}]\n", 1, 2, 0);
  assert_read("{\"a\":1}{\"a\":2}\n", 1, 2, 0);
  /* over several lines: the whole is the message, though one of its lines could be one, too */
  assert_read("{\n  \"a\": 1,\n  \"b\": 2\n}\n", 1, 1, 0);
  assert_read("[\n{\"a\": 1},\n{\"a\": 2}\n]\n", 1, 2, 0);
  assert_read("{\"a\":1}\nnothing\n{\"a\":2}\n", 2, 2, 1);
}

static void
assert_read_of(TideReadingFormat format, TideBytes text, guint n_messages, guint n_readings, guint n_bad)
{
  g_autoptr(TideInitSamples) samples = read_samples_of(format, text);
  g_assert_cmpuint(samples->messages->len, ==, n_messages);
  g_assert_cmpuint(samples->survey->n_readings, ==, n_readings);
  g_assert_cmpuint(samples->n_bad, ==, n_bad);
}

TEST("/init-samples/other-formats")
{
  assert_read_of(TIDE_FORMAT_INFLUX, TIDE_BYTES_LITERAL("m v=1\n# says nothing\n\nm v=2 5\n"), 2, 2, 0);
  assert_read_of(TIDE_FORMAT_INFLUX, TIDE_BYTES_LITERAL("m v=1\nm v=x\n"), 1, 1, 1);
  assert_read_of(TIDE_FORMAT_CSV, TIDE_BYTES_LITERAL("host,v\na,1\n\nb,2"), 2, 2, 0);
  assert_read_of(TIDE_FORMAT_CSV, TIDE_BYTES_LITERAL("host,v\na,1\nb\nc,3\n"), 2, 2,
                 1); /* a bad line takes no other along */
  assert_read_of(TIDE_FORMAT_CSV, TIDE_BYTES_LITERAL("host,v\na\n"), 0, 0, 1);
  assert_read_of(TIDE_FORMAT_MSGPACK, TIDE_BYTES_LITERAL("\x81\xA1v\x01\x81\xA1v\x0A"), 1, 2, 0);
}

static void
assert_delimiter(const char *text, const char *delimiter, guint n_fields)
{
  g_autoptr(TideInitSamples) samples = read_samples_of(TIDE_FORMAT_CSV, tide_bytes_of_string(text));
  g_test_message("%s", text);
  g_assert_cmpstr(samples->decode->csv.delimiter, ==, delimiter);
  g_assert_cmpuint(samples->survey->fields->len, ==, n_fields);
}

TEST("/init-samples/delimiters")
{
  assert_delimiter("host,v\na,1\n", NULL, 2);
  assert_delimiter("host\na\n", NULL, 1);
  assert_delimiter("host;v;w\na;1;\"b, c, d\"\n", ";", 3);
  assert_delimiter("host\tv\na\t1\n", "\t", 2);
  assert_delimiter("host|v\na|1\n", "|", 2);
  assert_delimiter("\"a;b;\nc;d\",v\nx,1\n", NULL, 2); /* what stands in quotes is no delimiter, and no line's end */
  assert_delimiter("host,v\na;b;c;d,1\n", NULL, 2);    /* nor is what stands in a reading */
}

TEST("/init-samples/no-header")
{
  g_autoptr(GError) error = NULL;
  g_autoptr(TideInitSamples) samples = read_samples_of(TIDE_FORMAT_CSV, TIDE_BYTES_LITERAL("\"p 1\";2026-11-23;230\n"));
  g_assert_false(tide_init_samples_check(samples, "the text", &error));
  g_assert_nonnull(strstr(error->message, "the first line of each message names the columns"));
  g_clear_error(&error);
  g_autoptr(TideInitSamples) packed = read_samples_of(TIDE_FORMAT_CSV, TIDE_BYTES_LITERAL("\x1f\x8b\x08"));
  g_assert_false(tide_init_samples_check(packed, "the text", &error));
  g_assert_nonnull(strstr(error->message, "it is compressed"));
  g_clear_error(&error);
  g_autoptr(TideInitSamples) twice = read_samples_of(TIDE_FORMAT_CSV, TIDE_BYTES_LITERAL("p;230;230\nq;231;230\n"));
  g_assert_false(tide_init_samples_check(twice, "the text", &error));
  g_assert_nonnull(strstr(error->message, "'--columns host,ts,...'"));
}

/* How many readings with @name there are in @text, which has no line of names. */
static void
assert_columns(const char *columns, const char *text, const char *name, const char *delimiter, guint n_present)
{
  TideInitForm form = {.format = TIDE_FORMAT_CSV, .columns = columns};
  g_autoptr(TideInitSamples) samples = read_samples_as(form, tide_bytes_of_string(text));
  const TideSurveyField *field = tide_field_survey_find(samples->survey, name);
  g_test_message("%s of %s", columns, text);
  g_assert_cmpuint(field != NULL ? field->n_present : 0, ==, n_present);
  g_assert_cmpstr(samples->decode->csv.delimiter, ==, delimiter);
}

TEST("/init-samples/columns")
{
  assert_columns("host, v", "a,1\nb,2\n", "v", NULL, 2);
  assert_columns("host,v", "a;1,5\nb;2\n", "v", ";", 2); /* a comma may stand in a number */
  assert_columns("host,v", "a, b, c|1\nb|2\n", "v", "|", 2);
  assert_columns("host,u,v", "a;1,5;2,5\n", "v", ";", 1);
  assert_columns("line", "a b\n", "line", NULL, 1);
  TideInitForm form = {.format = TIDE_FORMAT_CSV, .columns = "host,v"};
  g_autoptr(GError) error = NULL;
  g_autoptr(TideInitSamples) samples = read_samples_as(form, TIDE_BYTES_LITERAL("a,1,2\n"));
  g_assert_false(tide_init_samples_check(samples, "the text", &error));
  g_assert_nonnull(strstr(error->message, "'--columns' names the values of each line"));
}

static void
assert_each(const char *each, const char *text, guint n_readings, const char *fields)
{
  TideInitForm form = {.format = TIDE_FORMAT_JSON, .each = each};
  g_autoptr(TideInitSamples) samples = read_samples_as(form, tide_bytes_of_string(text));
  g_autoptr(GString) names = g_string_new(NULL);
  for (guint i = 0; i < samples->survey->fields->len; i++)
    g_string_append_printf(names, "%s ", ((const TideSurveyField *)samples->survey->fields->pdata[i])->name);
  g_assert_cmpstr(names->str, ==, fields);
  g_assert_cmpuint(samples->survey->n_readings, ==, n_readings);
}

TEST("/init-samples/each")
{
  assert_each("obs", "{\"host\":\"a\",\"obs\":[{\"v\":1},{\"v\":2}]}\n", 2, "host v ");
  assert_each("obs", "{\"host\":\"a\",\n\"obs\":[{\"v\":1},{\"v\":2}]}\n", 2, "host v "); /* one over two lines */
  assert_each("a/b/obs", "{\"x\":1,\"a\":{\"y\":1,\"b\":{\"z\":1,\"obs\":[{\"v\":1}]}}}\n", 1, "x a/y a/b/z v ");
  TideInitForm form = {.format = TIDE_FORMAT_JSON, .each = "obs"};
  g_autoptr(GError) error = NULL;
  g_autoptr(TideInitSamples) samples = read_samples_as(form, TIDE_BYTES_LITERAL("{\"host\":\"a\",\"metrics\":[]}\n"));
  g_assert_false(tide_init_samples_check(samples, "the text", &error));
  g_assert_nonnull(strstr(error->message, "'--each' is the path to the readings"));
}

TEST("/init-samples/42-C11-a-frame-is-named")
{
  static const guint8 framed[] = "\0\0\0\0\7{\"a\":1}";
  TideBytes message = tide_bytes(framed, sizeof framed - 1);
  g_autoptr(GError) error = NULL;
  g_autoptr(TideInitSamples) bare = read_samples_as((TideInitForm){.format = TIDE_FORMAT_JSON}, message);
  g_assert_false(tide_init_samples_check(bare, "the text", &error));
  g_assert_nonnull(strstr(error->message, "the frame of Confluent's serializers"));
  g_assert_nonnull(strstr(error->message, "'readings.framing: confluent' reads it"));
  TideInitForm form = {.format = TIDE_FORMAT_JSON, .framing = TIDE_FRAMING_CONFLUENT};
  g_autoptr(TideInitSamples) samples = read_samples_as(form, message);
  g_assert_cmpuint(samples->survey->n_readings, ==, 1);
}

TEST("/init-samples/most")
{
  g_autoptr(TideInitSamples) samples = new_samples((TideInitForm){.format = TIDE_FORMAT_JSON});
  static const char text[] = "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n";
  FILE *stream = fmemopen((gpointer)(gsize)text, strlen(text), "r");
  g_assert_true(tide_init_samples_read_stream(samples, stream, "the test", 2, NULL));
  g_assert_cmpuint(samples->survey->n_readings, ==, 2);
  fclose(stream);
}

/* A file of any size: the first lines of it, each with the names. */
TEST("/init-samples/most-of-csv")
{
  g_autoptr(GString) text = g_string_new("\nhost;\"v\n1\"\n");
  for (guint i = 0; i < 200000; i++)
    g_string_append_printf(text, "\"h;\n%u\";%u\n", i, i);
  g_assert_cmpuint(text->len, >, 3 * 1048576);
  g_autoptr(TideInitSamples) samples = new_samples((TideInitForm){.format = TIDE_FORMAT_CSV});
  FILE *stream = fmemopen(text->str, text->len, "r");
  g_assert_true(tide_init_samples_read_stream(samples, stream, "the test", 100, NULL));
  g_assert_cmpint(ftell(stream), <, 1048576);
  fclose(stream);
  g_assert_cmpuint(samples->messages->len, ==, 100);
  g_assert_cmpuint(samples->survey->n_readings, ==, 100);
  g_assert_cmpuint(samples->n_bad, ==, 0);
  const TideInitSample *last = samples->messages->pdata[99];
  g_assert_true(tide_bytes_equal(last->message.value, TIDE_BYTES_LITERAL("host;\"v\n1\"\n\"h;\n99\";99")));
  g_assert_cmpuint(last->line, ==, 1 + 2 + 2 * 99 + 1);
}

/* A line that is longer than a message may be is told of, and ends the samples. */
TEST("/init-samples/long-line-of-csv")
{
  g_autofree char *large = g_strnfill(3 * 1048576, 'x');
  g_autofree char *text = g_strdup_printf("host,v\na,1\n%s,2\nb,3\n", large);
  g_autoptr(TideInitSamples) samples = read_samples_of(TIDE_FORMAT_CSV, tide_bytes_of_string(text));
  g_assert_cmpuint(samples->messages->len, ==, 1);
  g_assert_cmpuint(samples->n_bad, ==, 1);
  g_assert_nonnull(strstr(samples->first_bad, "line 3: "));
  g_assert_nonnull(strstr(samples->first_bad, "use smaller messages as samples"));
}

static void
assert_refused(const char *text, const char *why)
{
  g_autoptr(TideInitSamples) samples = read_samples(text);
  g_autoptr(GError) error = NULL;
  g_assert_false(tide_init_samples_check(samples, "the text", &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_DATA);
  if (strstr(error->message, why) == NULL)
    g_error("'%s' is not said: %s", why, error->message);
}

TEST("/init-samples/bad")
{
  g_autofree char *large = g_strnfill(10 * 1000 * 1000, 'x');
  g_autofree char *message = g_strdup_printf("{\"a\":\"%s\"}", large);
  assert_refused("{\"a\":\n", "line 1: not in the declared format: ");
  assert_refused("{\"a\":\n", "a message is a JSON object, such as {");
  assert_refused("[1, 2]\n", "'positions' of 'readings' names them");
  assert_refused("\n5\n", "line 2: ");
  assert_refused("a,b\n", "`jq -c .`");
  assert_refused("\x01\x02Obj\xff\n", "it is not text: data that");
  assert_refused("\x1f\x8b\x08\n", "it is compressed: use the output of 'zcat'");
  assert_refused("\x50\x2a\x4d\x18\n", "it is compressed: use the output of 'zcat'"); /* by pzstd */
  assert_refused("\x82\xa1u\x01\xa1t\x02\n", "'--format msgpack'");
  assert_refused("cpu,host=a u=1 1795452860000000000\n", "'--format influx'");
  assert_refused("", "contains no reading");
  assert_refused("[]\n{}\n", "contains no reading");
  assert_refused(message, "use smaller messages as samples");
}
