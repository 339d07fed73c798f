/* Reading commands answer what was asked: over random keys, rows and questions, `scan`, `latest` and `get` show exactly
 * the rows that a plain filter over what was written finds. The filter knows the values of which rows were made, and
 * nothing of how keys are planned. */
#include "config/config.h"
#include "fault/gateway/scripted_gateway.h"
#include "fault/program/run_program.h"
#include "unit/rounds.h"

#include <glib/gstdio.h>

#define N_TABLES ROUNDS(60u)
#define N_ROWS 60u
#define N_QUESTIONS 8u /* of a table */
#define N_FIELDS 4u
#define FIRST_MS G_GINT64_CONSTANT(1426535612045)
#define SPAN_MS (G_GINT64_CONSTANT(3) * 86400000)

static const char *const field_names[N_FIELDS] = {"site", "device", "user", "kind"};

/* Values that begin with one another, or hold one another. */
static const char *const values[] = {"a", "ab", "abc", "b", "1", "12", "x-y", "x.a"};

typedef struct Row {
  const char *fields[N_FIELDS];
  gint64 time_ms;
  gboolean is_there; /* FALSE: another row has its key */
} Row;

typedef struct Table {
  char name[16];
  GString *key; /* owned: as YAML */
  gboolean has_time;
  gboolean is_latest; /* so declared; of the others with a time, `latest` is refused */
  guint forms[N_FIELDS];
  gboolean used[N_FIELDS];   /* asked of a reading */
  gboolean stands[N_FIELDS]; /* as a part of its own, so that rows can be chosen by it */
  Row rows[N_ROWS];
} Table;

/* What is asked: a value for some fields, and a time range. */
typedef struct Question {
  const char *fields[N_FIELDS]; /* NULL: not given */
  gint64 from_ms;               /* both 0: not given */
  gint64 to_ms;
  guint limit_rows; /* 0: not given */
} Question;

/* ---- random keys ---- */

static void
add_time(Table *table)
{
  static const char *const times[] = {"{ time: epoch_ms }", "{ time: epoch_ms, reversed: true }",
                                      "{ time: yyyyMMddHHmmssSSS }", "{ time: epoch_s }, \".\", { time: epoch_ms }"};
  g_string_append(table->key, times[g_test_rand_int_range(0, G_N_ELEMENTS(times))]);
  table->has_time = TRUE;
}

/* A field is written in the same form wherever it stands. */
static void
add_form(Table *table, guint field)
{
  static const char *const forms[] = {"{ field: %s }", "{ field: %s, width: 4 }",
                                      "{ field: %s, width: 5, pad: \"0\", reversed: true }"};
  g_autoptr(GString) text = g_string_new(forms[table->forms[field] % G_N_ELEMENTS(forms)]);
  g_string_replace(text, "%s", field_names[field], 1);
  g_string_append(table->key, text->str);
  table->used[field] = TRUE;
}

/* A salt or a hash in front, of a field that may stand in the key or not. */
static void
add_digest(Table *table, guint field)
{
  gboolean is_hash = g_test_rand_int_range(0, 2) == 0;
  g_string_append(table->key, is_hash ? "{ hash: md5, bytes: 16, of: [" : "{ salt: 3, of: [");
  add_form(table, field);
  g_string_append(table->key, is_hash ? "] }, " : "] }, \"#\", ");
  table->stands[field] = table->stands[field] || is_hash; /* told by its hash */
}

static void
make_table(Table *table, guint number)
{
  guint order[N_FIELDS] = {0, 1, 2, 3};
  for (guint i = N_FIELDS - 1; i > 0; i--) {
    guint other = (guint)g_test_rand_int_range(0, (gint32)i + 1), kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
  guint n_fields = (guint)g_test_rand_int_range(1, N_FIELDS);
  gint32 time_at = g_test_rand_int_range(-1, (gint32)n_fields + 1); /* -1: none */
  g_snprintf(table->name, sizeof table->name, "T%u", number);
  table->key = g_string_new("[ ");
  table->is_latest = g_test_rand_int_range(0, 2) == 0;
  for (guint i = 0; i < N_FIELDS; i++)
    table->forms[i] = (guint)g_test_rand_int_range(0, 3);
  if (g_test_rand_int_range(0, 3) == 0)
    g_string_append(table->key, "\"B#\", ");
  if (g_test_rand_int_range(0, 2) == 0)
    add_digest(table, order[g_test_rand_int_range(0, (gint32)n_fields + 1)]);
  for (guint i = 0; i <= n_fields; i++) {
    if ((gint32)i == time_at) {
      add_time(table);
      g_string_append(table->key, i < n_fields ? ", \"#\", " : "");
    }
    if (i == n_fields)
      break;
    add_form(table, order[i]);
    table->stands[order[i]] = TRUE;
    g_string_append(table->key, i + 1 < n_fields || time_at == (gint32)n_fields ? ", \"#\", " : "");
  }
  g_string_append(table->key, " ]");
}

static void
make_rows(Table *table)
{
  for (guint i = 0; i < N_ROWS; i++) {
    for (guint field = 0; field < N_FIELDS; field++)
      table->rows[i].fields[field] = values[g_test_rand_int_range(0, G_N_ELEMENTS(values))];
    table->rows[i].time_ms = FIRST_MS + (gint64)g_test_rand_double_range(0, SPAN_MS);
  }
}

/* ---- the tables in HBase ---- */

static char *
write_tables(const Table *tables, const char *endpoint)
{
  g_autoptr(GString) yaml = g_string_new("kafka: { brokers: \"127.0.0.1:9092\", group: g, topics: [t] }\n"
                                         "hbase: { gateways: [\"%s\"] }\n"
                                         "readings: { time: { field: ts, format: epoch_ms } }\n"
                                         "tables:\n");
  for (guint i = 0; i < N_TABLES; i++)
    g_string_append_printf(yaml, "  %s: { %skey: %s, columns: { family: M, from: [n] } }\n", tables[i].name,
                           tables[i].is_latest ? "latest: merge, " : "", tables[i].key->str);
  return write_config(yaml->str, endpoint);
}

static void
append_key(const TideConfig *config, const Table *table, const Row *row, TideBuffer *key)
{
  guint32 n_known = tide_field_names_count(config->names);
  g_autofree guint32 *known = g_new0(guint32, n_known);
  TideField fields[N_FIELDS];
  guint32 n_fields = 0;
  for (guint i = 0; i < N_FIELDS; i++) {
    TideNameId id = tide_field_names_find(config->names, tide_bytes_of_string(field_names[i]));
    if (id == TIDE_NAME_NONE)
      continue;
    fields[n_fields] =
        (TideField){.name_id = id, .kind = TIDE_VALUE_STRING, .text = tide_bytes_of_string(row->fields[i])};
    known[id] = ++n_fields;
  }
  TideReading reading = {.fields = fields,
                         .n_fields = n_fields,
                         .known = known,
                         .n_known = n_known,
                         .event_time_ns = row->time_ms * TIDE_NS_PER_MS};
  TideReject reject;
  g_assert_true(tide_row_key_append(tide_config_find_table(config, table->name)->key, &reading, key, &reject));
}

static void
put_rows(TideFakeHBase *hbase, const TideConfig *config, Table *table)
{
  TideFakeTableSpec *spec = fake_table_spec_new(table->name);
  fake_table_spec_add_family(spec, "M");
  g_auto(TideFakeError) error = {0};
  g_assert_true(fake_hbase_create_table(hbase, spec, NULL, 0, &error));
  g_autoptr(GHashTable) keys = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
  for (guint i = 0; i < N_ROWS; i++) {
    Row *row = &table->rows[i];
    g_auto(TideBuffer) key = {0};
    append_key(config, table, row, &key);
    row->is_there = g_hash_table_add(keys, g_bytes_new(key.data, key.len));
    if (!row->is_there)
      continue;
    g_autofree char *number = g_strdup_printf("%u", i);
    TideFakeCell cell = {.family = TIDE_BYTES_LITERAL("M"),
                         .qualifier = TIDE_BYTES_LITERAL("n"),
                         .value = tide_bytes_of_string(number),
                         .timestamp_ms = row->time_ms};
    TideFakeRow put = {.row = tide_buffer_bytes(&key), .cells = &cell, .n_cells = 1};
    g_assert_true(fake_hbase_put(hbase, table->name, &put, 1, (TideFakeOrigin){0}, NULL, NULL, &error));
  }
}

/* ---- questions, and the plain filter ---- */

static Question
ask(const Table *table)
{
  Question question = {{NULL}};
  const Row *like = &table->rows[g_test_rand_int_range(0, N_ROWS)]; /* mostly there is an answer */
  for (guint i = 0; i < N_FIELDS; i++)
    if (table->used[i] && g_test_rand_int_range(0, 2) == 0)
      question.fields[i] =
          g_test_rand_int_range(0, 8) == 0 ? values[g_test_rand_int_range(0, G_N_ELEMENTS(values))] : like->fields[i];
  if (g_test_rand_int_range(0, 3) == 0) {
    question.from_ms = like->time_ms - (gint64)g_test_rand_double_range(0, SPAN_MS / 2);
    question.to_ms = like->time_ms + 1 + (gint64)g_test_rand_double_range(0, SPAN_MS / 2);
  }
  question.limit_rows = g_test_rand_int_range(0, 4) == 0 ? (guint)g_test_rand_int_range(1, 6) : 0;
  return question;
}

static gboolean
is_meant(const Row *row, const Question *question)
{
  for (guint i = 0; i < N_FIELDS; i++)
    if (question->fields[i] != NULL && strcmp(question->fields[i], row->fields[i]) != 0)
      return FALSE;
  return question->to_ms == 0 || (row->time_ms >= question->from_ms && row->time_ms < question->to_ms);
}

static void
append_number(GString *text, guint number)
{
  g_string_append_printf(text, "%u ", number);
}

static char *
expected_rows(const Table *table, const Question *question)
{
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < N_ROWS; i++)
    if (table->rows[i].is_there && is_meant(&table->rows[i], question))
      append_number(text, i);
  return g_string_free(text, FALSE);
}

/* The numbers of the rows in @output, CSV whose last column is the cell, or with @n_behind more behind it; sorted. */
static char *
shown_rows(const char *output, guint n_behind)
{
  gboolean is_shown[N_ROWS] = {FALSE};
  g_auto(GStrv) lines = g_strsplit(output, "\n", -1);
  for (guint i = 1; lines[0] != NULL && lines[i] != NULL && lines[i][0] != '\0'; i++) {
    g_auto(GStrv) cells = g_strsplit(lines[i], ",", -1);
    guint number = (guint)atoi(cells[g_strv_length(cells) - 1 - n_behind]);
    g_assert_cmpuint(number, <, N_ROWS);
    g_assert_false(is_shown[number]); /* none twice */
    is_shown[number] = TRUE;
  }
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < N_ROWS; i++)
    if (is_shown[i])
      append_number(text, i);
  return g_string_free(text, FALSE);
}

static GString *
question_words(const char *command, const Table *table, const Question *question)
{
  GString *words = g_string_new(command);
  g_string_append_printf(words, " %s", table->name);
  for (guint i = 0; i < N_FIELDS; i++)
    if (question->fields[i] != NULL)
      g_string_append_printf(words, " %s=%s", field_names[i], question->fields[i]);
  if (question->limit_rows > 0)
    g_string_append_printf(words, " --limit %u", question->limit_rows);
  return words;
}

/* Of rows that are limited, any are right that are meant. */
static void
assert_rows(const char *shown, const char *expected, guint limit_rows)
{
  g_auto(GStrv) numbers = g_strsplit(shown, " ", -1), all = g_strsplit(expected, " ", -1);
  guint n_shown = MAX(g_strv_length(numbers), 1) - 1,
        n_expected = MAX(g_strv_length(all), 1) - 1; /* a blank ends each */
  if (limit_rows == 0 || limit_rows >= n_expected) {
    g_assert_cmpstr(shown, ==, expected);
    return;
  }
  g_assert_cmpuint(n_shown, ==, limit_rows);
  for (guint i = 0; i < n_shown; i++)
    g_assert_true(g_strv_contains((const char *const *)all, numbers[i]));
}

/* Whether the key tells all that is asked: else the question must be refused. */
static gboolean
can_be_answered(const Table *table, const Question *question)
{
  for (guint i = 0; i < N_FIELDS; i++)
    if (question->fields[i] != NULL && !table->stands[i])
      return FALSE;
  return TRUE;
}

static void
assert_answer(const char *config_path, const Table *table, const Question *question, const char *words, guint n_behind)
{
  g_auto(ProgramDone) done = run_program(config_path, words);
  g_test_message("%s: key %s", words, table->key->str);
  if (!can_be_answered(table, question)) {
    g_assert_cmpint(done.exit_code, ==, 64);
    assert_prints(done.errors, "cannot be told from those of others");
    return;
  }
  g_assert_cmpint(done.exit_code, ==, 0);
  g_autofree char *expected = expected_rows(table, question);
  g_autofree char *shown = shown_rows(done.output, n_behind);
  assert_rows(shown, expected, question->limit_rows);
}

static void
assert_scan(const char *config_path, const Table *table, const Question *question)
{
  static const char *const more[] = {"", " --reverse"};
  g_autoptr(GString) words = question_words("scan", table, question);
  if (question->to_ms != 0)
    g_string_append_printf(words, " --from %" G_GINT64_FORMAT " --to %" G_GINT64_FORMAT, question->from_ms,
                           question->to_ms);
  g_string_append_printf(words, "%s --column n -f csv", more[g_test_rand_int_range(0, G_N_ELEMENTS(more))]);
  assert_answer(config_path, table, question, words->str, 0);
}

static void
assert_latest(const char *config_path, const Table *table, const Question *question)
{
  Question of_any_time = *question;
  of_any_time.from_ms = of_any_time.to_ms = 0;
  g_autoptr(GString) words = question_words("latest", table, &of_any_time);
  g_string_append(words, " --raw -f csv");
  assert_answer(config_path, table, &of_any_time, words->str, 1); /* the age */
}

/* All that the key is made of, or less: then what is missing is named. */
static void
assert_get(const char *config_path, const Table *table)
{
  guint number = (guint)g_test_rand_int_range(0, N_ROWS);
  const Row *row = &table->rows[number];
  Question question = {{NULL}};
  gint32 without = g_test_rand_int_range(-2, N_FIELDS);
  for (guint i = 0; i < N_FIELDS; i++)
    if (table->used[i] && (gint32)i != without)
      question.fields[i] = row->fields[i];
  g_autoptr(GString) words = question_words("get", table, &question);
  if (table->has_time)
    g_string_append_printf(words, " --time %" G_GINT64_FORMAT, row->time_ms);
  g_string_append(words, " --raw -f csv");
  g_auto(ProgramDone) done = run_program(config_path, words->str);
  g_test_message("%s: key %s", words->str, table->key->str);
  if (without >= 0 && table->used[without]) {
    g_assert_cmpint(done.exit_code, ==, 64);
    assert_prints(done.errors, field_names[without]);
    return;
  }
  if (!row->is_there) /* its key is another row's */
    return;
  g_autofree char *shown = shown_rows(done.output, 0);
  g_autofree char *expected = g_strdup_printf("%u ", number);
  g_assert_cmpstr(shown, ==, expected);
}

static void
test_u1_random_questions(void)
{
  g_autoptr(TideScriptedGateway) gateway = scripted_gateway_new(NULL);
  g_autofree Table *tables = g_new0(Table, N_TABLES);
  for (guint i = 0; i < N_TABLES; i++) {
    make_table(&tables[i], i);
    make_rows(&tables[i]);
  }
  g_autofree char *config_path = write_tables(tables, scripted_gateway_endpoint(gateway));
  g_autoptr(GPtrArray) problems = NULL;
  g_autoptr(TideConfig) config = tide_config_load(config_path, &problems);
  g_assert_nonnull(config);
  for (guint i = 0; i < N_TABLES; i++) {
    put_rows(scripted_gateway_hbase(gateway), config, &tables[i]);
    for (guint k = 0; k < N_QUESTIONS; k++) {
      Question question = ask(&tables[i]);
      if (k % 2 == 0 || (!tables[i].is_latest && tables[i].has_time))
        assert_scan(config_path, &tables[i], &question);
      else
        assert_latest(config_path, &tables[i], &question);
    }
    assert_get(config_path, &tables[i]);
    g_string_free(tables[i].key, TRUE);
  }
  g_unlink(config_path);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/read-answers/U1/random-questions-are-answered-as-by-a-plain-filter", test_u1_random_questions);
  return g_test_run();
}
