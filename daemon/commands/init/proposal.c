#include "commands/init/proposal.h"

#include "config/option/option_table.h"
#include "config/option/table_language.h"
#include "config/yaml/yaml_text.h"
#include "decode/formats.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define TABLE_INDENT 2u /* tide_config_print_filled() indents the table's name */

void
tide_init_proposal_clear(TideInitProposal *proposal)
{
  g_free(proposal->brokers);
  g_free(proposal->properties);
  g_free(proposal->topic);
  g_free(proposal->group);
  g_free(proposal->gateways);
  g_free(proposal->time_field);
  g_free(proposal->zone);
  g_clear_pointer(&proposal->readings, g_ptr_array_unref);
  g_clear_pointer(&proposal->lacking, g_ptr_array_unref);
  g_clear_pointer(&proposal->key, g_ptr_array_unref);
  g_free(proposal->separator);
  tide_splits_free(proposal->splits);
  g_free(proposal->splits_why);
  g_free(proposal->table);
  g_free(proposal->dead_letters);
}

char *
tide_init_latest_name(const char *table)
{
  const char *colon = strchr(table, ':');
  const char *name = colon != NULL ? colon + 1 : table;
  return g_strdup_printf("%.*sCURRENT_%s", (int)(name - table), table, name);
}

/* ---- texts ---------------------------------------------------------------------------------------------------------
 */

/* Returns NULL for NULL. */
static char *
scalar(const char *text)
{
  if (text == NULL)
    return NULL;
  GString *out = g_string_new(NULL);
  tide_yaml_append_scalar(out, text, strlen(text));
  return g_string_free(out, FALSE);
}

/* Converts "a,b" to "[a, b]". */
static char *
list(const char *joined)
{
  g_auto(GStrv) items = g_strsplit(joined, ",", -1);
  GString *out = g_string_new("[");
  for (guint i = 0; items[i] != NULL; i++) {
    g_autofree char *item = scalar(g_strstrip(items[i]));
    g_string_append_printf(out, "%s%s", i > 0 ? ", " : "", item);
  }
  g_string_append_c(out, ']');
  return g_string_free(out, FALSE);
}

/* Always quoted: an unquoted word would be a field. Separators are plain characters. */
static void
append_separator(GString *out, const TideInitProposal *proposal)
{
  g_string_append_printf(out, ", \"%s\", ", proposal->separator != NULL ? proposal->separator : "#");
}

static void
append_salt(GString *out, const TideInitProposal *proposal)
{
  g_string_append_printf(out, "{ salt: %u, of: [", proposal->salt);
  for (guint i = 0; i < proposal->key->len; i++) {
    g_autofree char *name = scalar(proposal->key->pdata[i]);
    g_string_append_printf(out, "%s%s", i > 0 ? ", " : "", name);
  }
  g_string_append(out, "] }");
  append_separator(out, proposal);
}

/* @with_time: for the history table */
static void
append_key(GString *out, const TideInitProposal *proposal, gboolean with_time)
{
  g_string_append_printf(out, "%*skey: [", (int)TABLE_INDENT, "");
  if (with_time && proposal->salt > 0)
    append_salt(out, proposal);
  for (guint i = 0; i < proposal->key->len; i++) {
    gboolean is_last = i + 1 == proposal->key->len && !with_time;
    g_autofree char *name = scalar(proposal->key->pdata[i]);
    if (i > 0)
      append_separator(out, proposal);
    gboolean is_lacking =
        proposal->lacking != NULL && g_ptr_array_find(proposal->lacking, proposal->key->pdata[i], NULL);
    g_string_append_printf(out, "{ field: %s%s%s }", name, is_lacking ? ", default: none" : "",
                           proposal->separator == NULL && !is_last ? ", separator: escape" : "");
  }
  if (with_time) {
    /* Use the unit of the field or its values, so that two readings in one millisecond remain two rows. */
    gint64 step_ns = proposal->time_field != NULL && tide_time_format_is_count(proposal->time_format)
                         ? tide_time_format_step_ns(proposal->time_format)
                         : TIDE_NS_PER_MS;
    step_ns = proposal->time_parts.step_ns > 0 ? MIN(step_ns, proposal->time_parts.step_ns) : step_ns;
    append_separator(out, proposal);
    g_string_append_printf(out, "{ time: %s }",
                           tide_time_format_word(step_ns < 1000             ? TIDE_TIME_EPOCH_NS
                                                 : step_ns < TIDE_NS_PER_MS ? TIDE_TIME_EPOCH_US
                                                                            : TIDE_TIME_EPOCH_MS));
  }
  g_string_append(out, "]\n");
}

static void
append_sentence(GString *out, const char *option)
{
  tide_config_append_comment(out, TABLE_INDENT, tide_config_option_find(&tide_table_options, option)->sentence);
}

/* Bytes that are not UTF-8 are written in hex: a split point may end within a character. */
static void
append_splits(GString *out, const TideInitProposal *proposal)
{
  const GArray *splits = proposal->splits;
  if (splits == NULL)
    return;
  if (splits->len > 0)
    append_sentence(out, "splits");
  tide_config_append_comment(out, TABLE_INDENT, proposal->splits_why);
  g_autofree char *later = g_strdup_printf(
      "'tidemark tables create %s --sample 100000 --regions N' finds %s from that many messages of the topic, if "
      "the table does not exist%s.",
      proposal->table, splits->len > 0 ? "better ones" : "them", splits->len > 0 ? " and this line is removed" : "");
  tide_config_append_comment(out, TABLE_INDENT, later);
  for (guint i = 0; i < splits->len; i++) {
    TideBytes point = g_array_index(splits, TideBytes, i);
    g_autofree char *hex = tide_bytes_hex(point);
    if (i == 0)
      g_string_append_printf(out, "%*ssplits: [", (int)TABLE_INDENT, "");
    else
      g_string_append(out, ", ");
    if (g_utf8_validate((const char *)point.data, (gssize)point.len, NULL))
      tide_yaml_append_scalar(out, (const char *)point.data, point.len);
    else
      g_string_append_printf(out, "{ hex: \"%s\" }", hex);
  }
  g_string_append(out, splits->len > 0 ? "]\n" : "");
}

static char *
print_tables(const TideInitProposal *proposal)
{
  g_autoptr(GString) out = g_string_new(NULL);
  g_autofree char *latest = tide_init_latest_name(proposal->table);
  g_autofree char *history_name = scalar(proposal->table), *latest_name = scalar(latest);
  const int indent = TABLE_INDENT;
  g_string_append_printf(out, "%s:\n", history_name);
  append_sentence(out, "key");
  append_key(out, proposal, TRUE);
  append_sentence(out, "columns");
  g_string_append_printf(out, "%*scolumns: { family: M, from: \"*\" }\n", indent, "");
  append_splits(out, proposal);
  g_string_append_c(out, '\n');
  g_string_append_printf(out, "%s:\n", latest_name);
  append_sentence(out, "latest");
  g_string_append_printf(out, "%*slatest: merge\n", indent, "");
  append_key(out, proposal, FALSE);
  g_string_append_printf(out, "%*scolumns: { family: M, from: \"*\" }", indent, "");
  return g_string_free(g_steal_pointer(&out), FALSE);
}

/* Most messages contain many independent lines, so a bad line must not reject the others. */
static gboolean
is_of_lines(const TideDecodeOptions *decode)
{
  return tide_format_of(decode)->lines_are_readings;
}

/* @paths: owns what @fills borrows. */
static void
add_settings(const TideInitProposal *proposal, GPtrArray *paths, GArray *fills)
{
  for (guint i = 0; proposal->readings != NULL && i < proposal->readings->len; i++) {
    const char *setting = proposal->readings->pdata[i], *equals = strchr(setting, '=');
    char *path = g_strdup_printf("readings.%.*s", (int)(equals - setting), setting);
    const TideConfigFill fill = {path, equals + 1};
    g_ptr_array_add(paths, path);
    g_array_append_val(fills, fill);
  }
}

char *
tide_init_proposal_print(const TideInitProposal *proposal, guint n_messages)
{
  const TideDecodeOptions *decode = proposal->decode;
  g_autofree char *brokers = scalar(proposal->brokers), *group = scalar(proposal->group);
  g_autofree char *topics = list(proposal->topic), *gateways = list(proposal->gateways);
  g_autofree char *field = scalar(proposal->time_field), *zone = scalar(proposal->zone);
  g_autofree char *pattern = scalar(proposal->time_parts.pattern), *plus = scalar(proposal->time_parts.plus_field);
  g_autofree char *date = scalar(proposal->time_parts.date_field),
                  *date_pattern = scalar(proposal->time_parts.date_pattern);
  g_autofree char *letters = scalar(proposal->dead_letters), *delimiter = scalar(decode->csv.delimiter);
  g_autofree char *joined = decode->csv.columns != NULL ? g_strjoinv(",", decode->csv.columns) : NULL;
  g_autofree char *columns = joined != NULL ? list(joined) : NULL;
  static const TideRegistrySettings no_registry = {0};
  const TideRegistrySettings *registry = proposal->registry != NULL ? proposal->registry : &no_registry;
  g_autofree char *url = scalar(registry->url), *user = scalar(registry->user), *ca = scalar(registry->ca);
  g_autofree char *password = scalar(registry->password.file), *schema = scalar(decode->schema_file);
  g_autofree char *message = scalar(decode->message), *root = scalar(decode->layout.root),
                  *each = scalar(decode->layout.each);
  g_autofree char *tables = print_tables(proposal);
  const TideConfigFill all[] = {
      {"kafka.brokers", brokers},
      {"kafka.group", group},
      {"kafka.topics", topics},
      {"kafka.librdkafka", proposal->properties},
      {"readings.format", decode->format != TIDE_FORMAT_JSON ? tide_config_format_name(decode->format) : NULL},
      {"readings.schema", schema},
      {"readings.message", message},
      {"readings.framing", decode->framing == TIDE_FRAMING_CONFLUENT ? "confluent" : NULL},
      {"readings.registry.url", url},
      {"readings.registry.user", user},
      {"readings.registry.password.file", password},
      {"readings.registry.ca", ca},
      {"readings.csv.header", decode->format == TIDE_FORMAT_CSV && columns == NULL ? "true" : NULL},
      {"readings.csv.columns", columns},
      {"readings.csv.delimiter", delimiter},
      {"readings.root", root},
      {"readings.each", each},
      {"readings.on_bad_reading", is_of_lines(decode) ? "reading" : NULL},
      {"readings.time.field", field},
      {"readings.time.format", tide_time_format_word(field != NULL ? proposal->time_format : TIDE_TIME_RECORD)},
      {"readings.time.pattern", pattern},
      {"readings.time.zone", zone},
      {"readings.time.date.field", date},
      {"readings.time.date.pattern", date_pattern},
      {"readings.time.plus.field", plus},
      {"readings.time.plus.unit", proposal->time_parts.plus_unit},
      {"tables", tables},
      {"hbase.gateways", gateways},
      {"dead_letters.topic", letters},
  };
  g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GArray) fills = g_array_new(TRUE, TRUE, sizeof(TideConfigFill));
  add_settings(proposal, paths, fills);
  for (gsize i = 0; i < G_N_ELEMENTS(all); i++) {
    if (all[i].value != NULL) /* the first value of a path has precedence */
      g_array_append_val(fills, all[i]);
  }
  const TideConfigFill letters_file = {"dead_letters.file", NULL};
  if (letters == NULL)
    g_array_append_val(fills, letters_file);
  g_autofree char *head = g_strdup_printf(
      "The configuration of tidemark, proposed by 'tidemark init' from %u message%s. Other options have their "
      "default: 'tidemark check --print-defaults' shows every option. 'tidemark check' checks everything; "
      "docs/tables.md describes tables.",
      n_messages, n_messages == 1 ? "" : "s");
  return tide_config_print_filled(head, (const TideConfigFill *)(gpointer)fills->data);
}

/* ---- the file ------------------------------------------------------------------------------------------------------
 */

static gboolean
fail_path(const char *path, int cause, GError **error)
{
  if (cause == EEXIST)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_IO,
                "'%s' already exists and is not changed: name another file with '--config', or move that file away",
                path);
  else if (cause == ENOENT)
    g_set_error(
        error, TIDE_ERROR, TIDE_ERROR_IO,
        "cannot create '%s': its directory is missing: create it (mkdir -p), or name another file with '--config'",
        path);
  else
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_IO, "cannot create '%s': %s: name another file with '--config'", path,
                g_strerror(cause));
  return FALSE;
}

gboolean
tide_init_check_path(const char *path, GError **error)
{
  g_autofree char *folder = g_path_get_dirname(path);
  if (g_file_test(path, G_FILE_TEST_EXISTS | G_FILE_TEST_IS_SYMLINK))
    return fail_path(path, EEXIST, error);
  return access(folder, W_OK | X_OK) == 0 || fail_path(path, errno, error);
}

gboolean
tide_init_write_file(const char *path, const char *text, GError **error)
{
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0)
    return fail_path(path, errno, error);
  FILE *file = fdopen(fd, "w");
  if (file == NULL) {
    int cause = errno;
    close(fd);
    return fail_path(path, cause, error);
  }
  gboolean ok = fputs(text, file) >= 0 && fflush(file) == 0 && fsync(fd) == 0;
  int cause = errno;
  if (fclose(file) != 0 && ok) {
    cause = errno;
    ok = FALSE;
  }
  if (ok)
    return TRUE;
  (void)unlink(path); /* a partial file would look like a complete one */
  return fail_path(path, cause, error);
}
