/* readings: which options a format uses. An option without effect would be misleading. */
#include "config/load/load_pieces.h"

#include "config/option/option_table.h"
#include "decode/avro_container.h"
#include "decode/formats.h"
#include "decode/layout.h"
#include "decode/protobuf_schema.h"

/* Limit for a descriptor set; those of whole companies are smaller. */
#define SCHEMA_MAX_BYTES (16 * 1024 * 1024)

/* Options that only some formats use. */
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

/* The readings of one source while they are checked. */
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

/* Checks @names of fields that readings get. */
static void
check_names(ReadingsLoad *it, const char *option, const GPtrArray *names)
{
  for (guint i = 0; i < names->len; i++) {
    g_autofree char *shown = tide_problem_quote(names->pdata[i]);
    if (!can_name_field(names->pdata[i]))
      readings_error(it, option, "'%s.%s' contains an invalid field name: '%s'", it->path, option, shown);
    for (guint k = 0; k < i; k++)
      if (strcmp(names->pdata[k], names->pdata[i]) == 0)
        readings_error(it, option, "'%s.%s' contains the field '%s' twice", it->path, option, shown);
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
                   "'%s.csv.comment' must not start with the delimiter, a letter, a digit, a quote, or one of + - ., "
                   "because rows that start with it would be lost; got '%s'",
                   it->path, shown);
  else if (csv->header)
    tide_problems_add_notice(it->load->config->notices, position_of(it, "csv.comment"),
                             "a header line that starts with '%s' is a comment, and the next row would be read as the "
                             "header: if messages have such a line, remove '%s.csv.comment'",
                             shown, it->path);
}

/* Prefixes of field names: a separator follows a name, which may be empty. */
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
      readings_error(it, starts[i].option,
                     "'%s.%s' must not start with '$', which is reserved for fields of the record", it->path,
                     starts[i].option);
}

/* Checks the source of the field names and the delimiter between values. */
static void
check_csv(ReadingsLoad *it)
{
  const TideCsvOptions *csv = &it->decode->csv;
  g_autofree char *columns = g_strconcat(it->path, ".csv.columns", NULL);
  if (csv->columns == NULL && !csv->header && !tide_load_is_written(it->load, columns))
    readings_error(it, "csv",
                   "'%s.csv' does not name the values: set 'csv: { columns: [host, ts, cpu] }', or 'csv: { header: "
                   "true }' if the first line of each message names them",
                   it->path);
  else if (csv->columns != NULL && csv->header)
    readings_error(it, "csv.header", "'%s.csv.header' and '%s.csv.columns' both name the fields: remove one of them",
                   it->path, it->path);
  if (csv->columns != NULL)
    check_columns(it);
  if (csv->delimiter != NULL && (csv->delimiter[1] != '\0' || !tide_csv_is_delimiter(csv->delimiter[0])))
    readings_error(it, "csv.delimiter",
                   "'%s.csv.delimiter' must be one ASCII character other than a letter, a digit, a quote, a line "
                   "break, or one of + - .",
                   it->path);
  if (csv->decimal_comma && (csv->delimiter == NULL || csv->delimiter[0] == ','))
    readings_error(it, "csv.decimal_comma",
                   "'%s.csv.decimal_comma' needs a delimiter other than a comma: add, for example, 'delimiter: \";\"'",
                   it->path);
  if (csv->comment != NULL)
    check_comment(it);
  if (csv->skip_after_header > 0 && !csv->header)
    readings_error(it, "csv.skip_after_header",
                   "'%s.csv.skip_after_header' needs 'header: true': without a header, use 'skip_lines'", it->path);
}

/* ---- where the readings are ---- */

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
      readings_error(it, "each",
                     "'%s.each' must be names of members joined by '%s', or {NAME}, which matches every member of an "
                     "object and stores its name in the field NAME: devices%sreadings, servers%s{server}",
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
    readings_error(it, "positions", "'%s.positions' must name a value, for example [ts, temp]", it->path);
  if (g_strv_length(layout->positions) > it->decode->max_fields)
    readings_error(it, "positions", "'%s.positions' has more names than '%s.max_fields' (%u) allows", it->path,
                   it->path, it->decode->max_fields);
  if (layout->zip)
    readings_error(it, "positions", "'%s.positions' and '%s.zip' cannot be combined: zipped lists have their own names",
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
    readings_error(
        it, "outer_prefix",
        "'%s.outer_prefix' has no effect without '%s.each': only 'each' adds fields from outside the readings",
        it->path, it->path);
  if (layout->positions != NULL)
    check_positions(it);
  if (layout->on_missing != TIDE_MISSING_REJECT && layout->each == NULL && layout->root == NULL)
    readings_error(it, "on_missing",
                   "'%s.on_missing' has no effect without '%s.root' or '%s.each', to whose members it applies",
                   it->path, it->path, it->path);
}

/* The schema registry, and its user. */
static void
check_registry(ReadingsLoad *it, TideRegistrySettings *registry)
{
  gboolean is_https = g_str_has_prefix(registry->url, "https://"), has_password;
  g_autofree char *password = g_strconcat(it->path, ".registry.password", NULL);
  TideSourcePosition position = position_of(it, "registry.url");
  if ((!is_https && !g_str_has_prefix(registry->url, "http://")) || strpbrk(registry->url, "?#@ ") != NULL)
    tide_problems_add_error(
        it->load->problems, position,
        "'%s.registry.url' must start with http:// or https://, and must not contain a user, '?' or '#'", it->path);
  while (g_str_has_suffix(registry->url, "/"))
    registry->url[strlen(registry->url) - 1] = '\0';
  tide_load_resolve(it->load, &registry->password.file);
  tide_load_resolve(it->load, &registry->ca);
  has_password = tide_secret_source_is_set(&registry->password);
  if (!tide_load_check_one_source(it->load, password, &registry->password, "read the password"))
    return;
  if (has_password != (registry->user != NULL))
    tide_problems_add_error(it->load->problems, position,
                            "'%s.registry' must have both 'user' and 'password', or neither", it->path);
  if (registry->user != NULL && strchr(registry->user, ':') != NULL)
    readings_error(it, "registry.user",
                   "'%s.registry.user' must not contain ':', which separates user and password in basic authentication",
                   it->path);
  if (has_password && !is_https)
    tide_problems_add_warning(it->load->problems, position,
                              "'%s.registry.url' ('%s') sends the password in clear text: use https://", it->path,
                              registry->url);
}

/* The writer's schema of Avro messages. */
static void
load_avro(ReadingsLoad *it)
{
  TideDecodeOptions *decode = it->decode;
  g_autofree char *reason = NULL;
  g_autoptr(GError) error = NULL;
  TideRegistrySettings *registry = it->registry;
  if ((decode->schema_file == NULL) == (registry->url == NULL)) {
    readings_error(it, "format",
                   "'%s.format: avro' needs either '%s.schema' (the schema file) or '%s.registry' with a 'url'",
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
                   "'%s.%s' is missing: 'format: protobuf' needs 'schema', a descriptor set from protoc "
                   "--include_imports --descriptor_set_out, and 'message', the full name of a message in it",
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
  const char *format = tide_config_format_name(it.decode->format);
  g_autofree char *with_format = g_strdup_printf("with 'format: %s'", format);
  for (gsize i = 0; i < G_N_ELEMENTS(choosy); i++)
    if (!tide_load_format_takes(it.decode->format, choosy[i].option))
      tide_load_refuse_option(load, path, node, choosy[i].option, with_format);
  for (char **word = it.decode->fields.null_values; word != NULL && *word != NULL; word++)
    it.decode->fields.nan_is_null |= strcmp(*word, "NaN") == 0;
  g_autofree char *fields_path = g_strconcat(path, ".fields", NULL);
  tide_load_fields(load, fields_path, tide_yaml_get(node, "fields"), it.decode);
  if (!tide_format_is_built_in(it.decode->format))
    readings_error(&it, "format",
                   "'%s.format: %s' is not supported by this build, which lacks %s: use a build that has it (see "
                   "'tidemark version'), or build with -D%s=enabled",
                   path, format, format, format);
  else if (it.decode->format == TIDE_FORMAT_AVRO)
    load_avro(&it);
  else if (it.decode->format == TIDE_FORMAT_PROTOBUF)
    load_protobuf(&it);
}
