/* readings: which options a format takes. One that changes nothing would be a false promise. */
#include "config/load/load.h"

#include "config/option/option_table.h"
#include "decode/avro_container.h"
#include "decode/formats.h"
#include "decode/layout.h"
#include "decode/protobuf_schema.h"

/* Of a descriptor set: those of whole companies have less. */
#define SCHEMA_MAX_BYTES (16 * 1024 * 1024)

/* Those that not every format takes. */
static const struct {
  const char *option;
  TideFormatOptions takes;
} choosy[] = {
    {"root", TIDE_TAKES_STRUCTURE},         {"each", TIDE_TAKES_STRUCTURE},
    {"positions", TIDE_TAKES_STRUCTURE},    {"zip", TIDE_TAKES_STRUCTURE},
    {"outer_prefix", TIDE_TAKES_STRUCTURE}, {"on_missing", TIDE_TAKES_STRUCTURE},
    {"separator", TIDE_TAKES_STRUCTURE},    {"arrays", TIDE_TAKES_STRUCTURE},
    {"max_depth", TIDE_TAKES_STRUCTURE},    {"csv", TIDE_TAKES_CSV},
    {"schema", TIDE_TAKES_SCHEMA},          {"registry", TIDE_TAKES_REGISTRY},
    {"message", TIDE_TAKES_MESSAGE},        {"framing", TIDE_TAKES_FRAMING},
    {"influx", TIDE_TAKES_INFLUX},
};

gboolean
tide_load_format_takes(TideReadingFormat format, const char *option)
{
  for (gsize i = 0; i < G_N_ELEMENTS(choosy); i++)
    if (strcmp(choosy[i].option, option) == 0)
      return (tide_formats[format].takes & choosy[i].takes) != 0;
  return TRUE;
}

/* What is said of one source's readings, while it is checked. */
typedef struct ReadingsLoad {
  TideLoad *load;
  const char *path; /* "readings" */
  TideDecodeOptions *decode;
  TideRegistrySettings *registry;
} ReadingsLoad;

static TideSourcePosition
position_of(const ReadingsLoad *it, const char *option)
{
  g_autofree char *path = g_strconcat(it->path, ".", option, NULL);
  return tide_load_position(it->load, path);
}

/* Adds an error at @option of the readings. */
#define readings_error(it, option, ...)                                                                                \
  tide_problems_add_error((it)->load->problems, position_of(it, option), __VA_ARGS__)

static gboolean
can_name_field(const char *name)
{
  return *name != '\0' && !tide_field_name_is_of_record(tide_bytes_of_string(name));
}

/* @names: of fields that readings get. */
static void
check_names(ReadingsLoad *it, const char *option, const GPtrArray *names)
{
  for (guint i = 0; i < names->len; i++) {
    g_autofree char *shown = tide_problem_quote(names->pdata[i]);
    if (!can_name_field(names->pdata[i]))
      readings_error(it, option, "'%s.%s' has a name that no field can have: '%s'", it->path, option, shown);
    for (guint k = 0; k < i; k++)
      if (strcmp(names->pdata[k], names->pdata[i]) == 0)
        readings_error(it, option, "'%s.%s' names the field '%s' twice", it->path, option, shown);
  }
}

static void
check_columns(ReadingsLoad *it)
{
  char **columns = it->decode->csv.columns;
  g_autoptr(GPtrArray) fields = g_ptr_array_new();
  if (columns[0] == NULL)
    readings_error(it, "csv.columns", "'%s.csv.columns' must not be empty", it->path);
  if (g_strv_length(columns) > it->decode->max_fields)
    readings_error(it, "csv.columns", "'%s.csv.columns' has more names than '%s.max_fields' (%u) allows", it->path,
                   it->path, it->decode->max_fields);
  for (; *columns != NULL; columns++)
    if (strcmp(*columns, TIDE_NO_NAME) != 0)
      g_ptr_array_add(fields, *columns);
  check_names(it, "csv.columns", fields);
}

static void
check_comment(ReadingsLoad *it)
{
  const TideCsvOptions *csv = &it->decode->csv;
  char delimiter = csv->delimiter != NULL ? csv->delimiter[0] : ',';
  g_autofree char *shown = tide_problem_quote(csv->comment);
  if (!tide_csv_is_delimiter(csv->comment[0]) || csv->comment[0] == delimiter)
    readings_error(it, "csv.comment",
                   "'%s.csv.comment' must not begin with the delimiter, nor with a letter, a digit, a quote, or one of "
                   "+ - .: rows that begin with it would be lost, got '%s'",
                   it->path, shown);
  else if (csv->header)
    tide_problems_add_notice(it->load->config->notices, position_of(it, "csv.comment"),
                             "a line of names that begins with '%s' is a comment, and the row after it is taken for "
                             "the names: if messages have such a line, remove '%s.csv.comment'",
                             shown, it->path);
}

/* What the names of fields can begin with: a separator follows a name, which may be empty. */
static void
check_name_starts(ReadingsLoad *it)
{
  const TideDecodeOptions *decode = it->decode;
  const struct {
    const char *option, *text;
  } starts[] = {
      {"separator", decode->separator},
      {"outer_prefix", decode->layout.outer_prefix},
      {"influx.tag_prefix", decode->influx.tag_prefix},
      {"influx.field_prefix", decode->influx.field_prefix},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(starts); i++)
    if (starts[i].text != NULL && starts[i].text[0] == '$')
      readings_error(it, starts[i].option, "'%s.%s' must not begin with '$', as what the record offers does", it->path,
                     starts[i].option);
}

/* What names the fields, and what stands between their values. */
static void
check_csv(ReadingsLoad *it)
{
  const TideCsvOptions *csv = &it->decode->csv;
  g_autofree char *columns = g_strconcat(it->path, ".csv.columns", NULL);
  if (csv->columns == NULL && !csv->header && !tide_load_is_written(it->load, columns))
    readings_error(it, "csv",
                   "'%s.csv' does not say what the values are: write 'csv: { columns: [host, ts, cpu] }', or 'csv: { "
                   "header: true }' where the first line of each message names them",
                   it->path);
  else if (csv->columns != NULL && csv->header)
    readings_error(it, "csv.header", "'%s.csv.header' and '%s.csv.columns' both name the fields: remove one of them",
                   it->path, it->path);
  if (csv->columns != NULL)
    check_columns(it);
  if (csv->delimiter != NULL && (csv->delimiter[1] != '\0' || !tide_csv_is_delimiter(csv->delimiter[0])))
    readings_error(it, "csv.delimiter",
                   "'%s.csv.delimiter' must be one byte of ASCII, no letter, digit, quote, line break, or one of + - .",
                   it->path);
  if (csv->decimal_comma && (csv->delimiter == NULL || csv->delimiter[0] == ','))
    readings_error(it, "csv.decimal_comma",
                   "'%s.csv.decimal_comma' needs a delimiter that is no comma: add, for instance, 'delimiter: \";\"'",
                   it->path);
  if (csv->comment != NULL)
    check_comment(it);
  if (csv->skip_after_header > 0 && !csv->header)
    readings_error(it, "csv.skip_after_header",
                   "'%s.csv.skip_after_header' needs 'header: true': without one, 'skip_lines' passes over lines",
                   it->path);
}

/* ---- where readings are ---- */

static void
check_each(ReadingsLoad *it)
{
  const TideDecodeOptions *decode = it->decode;
  g_auto(GStrv) steps = g_strsplit(decode->layout.each, decode->separator, -1);
  g_autoptr(GPtrArray) fields = g_ptr_array_new_with_free_func(g_free);
  for (char **step = steps; *step != NULL; step++) {
    char *field = tide_layout_field_of_step(*step);
    if (field != NULL)
      g_ptr_array_add(fields, field);
    else if (**step == '\0' || strpbrk(*step, "{}") != NULL)
      readings_error(
          it, "each",
          "'%s.each' must be names of members with '%s' between them, or {NAME}, which takes every member of "
          "an object and calls the field of its name NAME: devices%sreadings, servers%s{server}",
          it->path, decode->separator, decode->separator, decode->separator);
  }
  check_names(it, "each", fields);
}

static void
check_positions(ReadingsLoad *it)
{
  const TideLayoutOptions *layout = &it->decode->layout;
  g_autoptr(GPtrArray) fields = g_ptr_array_new();
  for (char **name = layout->positions; *name != NULL; name++)
    if (strcmp(*name, TIDE_NO_NAME) != 0)
      g_ptr_array_add(fields, *name);
  if (fields->len == 0)
    readings_error(it, "positions", "'%s.positions' must name a value: [ts, temp], say", it->path);
  if (g_strv_length(layout->positions) > it->decode->max_fields)
    readings_error(it, "positions", "'%s.positions' has more names than '%s.max_fields' (%u) allows", it->path,
                   it->path, it->decode->max_fields);
  if (layout->zip)
    readings_error(it, "positions",
                   "'%s.positions' and '%s.zip' exclude each other: lists that are zipped have names of their own",
                   it->path, it->path);
  check_names(it, "positions", fields);
}

static void
check_layout(ReadingsLoad *it)
{
  const TideLayoutOptions *layout = &it->decode->layout;
  if (layout->each != NULL)
    check_each(it);
  else if (layout->outer_prefix != NULL)
    readings_error(it, "outer_prefix",
                   "'%s.outer_prefix' has no effect without '%s.each': nothing else stands around readings", it->path,
                   it->path);
  if (layout->positions != NULL)
    check_positions(it);
  if (layout->on_missing != TIDE_MISSING_REJECT && layout->each == NULL && layout->root == NULL)
    readings_error(it, "on_missing",
                   "'%s.on_missing' has no effect without '%s.root' or '%s.each': it is about what they name", it->path,
                   it->path, it->path);
}

/* Where schemas are asked for, and who asks. */
static void
check_registry(ReadingsLoad *it, TideRegistrySettings *registry)
{
  gboolean is_https = g_str_has_prefix(registry->url, "https://"), has_password;
  g_autofree char *password = g_strconcat(it->path, ".registry.password", NULL);
  TideSourcePosition position = position_of(it, "registry.url");
  if ((!is_https && !g_str_has_prefix(registry->url, "http://")) || strpbrk(registry->url, "?#@ ") != NULL)
    tide_problems_add_error(it->load->problems, position,
                            "'%s.registry.url' must begin with http:// or https://, and hold no user, '?' or '#'",
                            it->path);
  while (g_str_has_suffix(registry->url, "/"))
    registry->url[strlen(registry->url) - 1] = '\0';
  tide_load_resolve(it->load, &registry->password.file);
  tide_load_resolve(it->load, &registry->ca);
  has_password = tide_secret_source_is_set(&registry->password);
  if (!tide_load_check_one_source(it->load, password, &registry->password, "the password comes"))
    return;
  if (has_password != (registry->user != NULL))
    tide_problems_add_error(it->load->problems, position,
                            "'%s.registry' must have both a 'user' and a 'password', or neither", it->path);
  if (registry->user != NULL && strchr(registry->user, ':') != NULL)
    readings_error(it, "registry.user",
                   "'%s.registry.user' must hold no ':', where basic authentication begins the password", it->path);
  if (has_password && !is_https)
    tide_problems_add_warning(it->load->problems, position,
                              "'%s.registry.url' ('%s') lets the password be read on the way: use https://", it->path,
                              registry->url);
}

/* What Avro's messages were written by. */
static void
load_avro(ReadingsLoad *it)
{
  TideDecodeOptions *decode = it->decode;
  g_autofree char *reason = NULL;
  g_autoptr(GError) error = NULL;
  TideRegistrySettings *registry = it->registry;
  if ((decode->schema_file == NULL) == (registry->url == NULL)) {
    readings_error(
        it, "format",
        "'%s.format: avro' needs '%s.schema', the file with the schema, or '%s.registry' with a 'url', and not both",
        it->path, it->path, it->path);
    return;
  }
  if (registry->url != NULL) {
    check_registry(it, registry);
    decode->schemas = tide_registry_new(registry);
    return;
  }
  tide_load_resolve(it->load, &decode->schema_file);
  g_autoptr(GByteArray) begin = tide_load_file_begin(decode->schema_file, TIDE_AVRO_HEAD_MAX_BYTES, &reason);
  if (begin != NULL)
    decode->schema = tide_avro_schema_of_file(tide_bytes(begin->data, begin->len), &error);
  if (decode->schema == NULL)
    readings_error(it, "schema", "'%s.schema': the schema '%s' cannot be used: %s", it->path, decode->schema_file,
                   begin == NULL ? reason : error->message);
}

static void
load_protobuf(ReadingsLoad *it)
{
  TideDecodeOptions *decode = it->decode;
  g_autofree char *reason = NULL;
  g_autoptr(GError) error = NULL;
  if (decode->schema_file == NULL || (decode->message == NULL && decode->framing != TIDE_FRAMING_CONFLUENT)) {
    readings_error(it, "format",
                   "'%s.%s' is missing: 'format: protobuf' needs a descriptor set (schema), as protoc "
                   "--include_imports --descriptor_set_out writes it, and the full name of a message in it (message)",
                   it->path, decode->schema_file == NULL ? "schema" : "message");
    return;
  }
  tide_load_resolve(it->load, &decode->schema_file);
  g_autofree char *shown = tide_problem_quote(decode->schema_file);
  g_autoptr(GByteArray) set = tide_load_file(decode->schema_file, SCHEMA_MAX_BYTES, &reason);
  if (set != NULL)
    decode->protobuf =
        tide_protobuf_schema_new(tide_bytes(set->data, set->len), decode->message, decode->framing, &error);
  if (decode->protobuf == NULL)
    readings_error(it, "schema", "'%s.schema': the descriptor set '%s' cannot be used: %s", it->path, shown,
                   set == NULL ? reason : error->message);
}

void
tide_load_readings(TideLoad *load, const char *path, const TideYamlNode *node, TideReadingsConfig *readings)
{
  ReadingsLoad it = {load, path, &readings->decode, &readings->registry};
  check_name_starts(&it);
  if ((tide_format_of(it.decode)->takes & TIDE_TAKES_CSV) != 0)
    check_csv(&it);
  if ((tide_format_of(it.decode)->takes & TIDE_TAKES_STRUCTURE) != 0)
    check_layout(&it);
  for (gsize i = 0; i < G_N_ELEMENTS(choosy); i++) {
    const TideYamlNode *option = tide_yaml_get(node, choosy[i].option);
    if (!tide_yaml_is_null(option) && !tide_load_format_takes(it.decode->format, choosy[i].option))
      tide_load_error(load, option, "'%s.%s' has no effect with 'format: %s': remove it", path, choosy[i].option,
                      tide_config_format_name(it.decode->format));
  }
  for (char **word = it.decode->fields.null_values; word != NULL && *word != NULL; word++)
    it.decode->fields.nan_is_null |= strcmp(*word, "NaN") == 0;
  g_autofree char *fields_path = g_strconcat(path, ".fields", NULL);
  tide_load_fields(load, fields_path, tide_yaml_get(node, "fields"), it.decode);
  const char *format = tide_config_format_name(it.decode->format);
  if (!tide_format_is_built_in(it.decode->format))
    readings_error(&it, "format",
                   "'%s.format: %s' cannot be read: this program was built without %s; take one that has it "
                   "('tidemark version' tells), or build with -D%s=enabled",
                   path, format, format, format);
  else if (it.decode->format == TIDE_FORMAT_AVRO)
    load_avro(&it);
  else if (it.decode->format == TIDE_FORMAT_PROTOBUF)
    load_protobuf(&it);
}
