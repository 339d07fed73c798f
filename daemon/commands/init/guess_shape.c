#include "commands/init/guess_shape.h"

#include "config/yaml/yaml_text.h"
#include "model/time/time_forms.h"

/* Further items of a list are ignored. */
#define MAX_ITEMS 64u

/* The new field for member names that are times. */
#define NAME_OF_TIMES "time"

/* The context in which signs of a shape are searched for. */
typedef struct Search {
  const TideFieldSurvey *survey;
  const GPtrArray *given;
  const GPtrArray *tried;
  TideShapeGuess *guess;
} Search;

void
tide_shape_guess_clear(TideShapeGuess *guess)
{
  g_free(guess->settings);
  g_free(guess->instead);
}

const char *
tide_shape_setting(const GPtrArray *given, const char *name)
{
  for (guint i = 0; i < given->len; i++) {
    const char *setting = given->pdata[i];
    gsize len = strlen(name);
    if (strncmp(setting, name, len) == 0 && setting[len] == '=')
      return setting + len + 1;
  }
  return NULL;
}

static const TideSurveyField *
field_at(const Search *search, guint index)
{
  return search->survey->fields->pdata[index];
}

/* The first value that is present. */
static TideBytes
first_text(const TideSurveyField *field, TideValueKind *ret_kind)
{
  for (guint i = 0; i < field->values->len; i++) {
    const TideSurveyValue *value = tide_survey_value(field, i);
    *ret_kind = value->kind;
    if (value->is_present)
      return value->text;
  }
  *ret_kind = TIDE_VALUE_NULL;
  return TIDE_BYTES_EMPTY;
}

/* (transfer full) */
static char *
yaml_of(const char *text)
{
  GString *out = g_string_new(NULL);
  tide_yaml_append_scalar(out, text, strlen(text));
  return g_string_free(out, FALSE);
}

/* Records @settings as a guess: (transfer full). FALSE: they were tried before. */
static gboolean
propose(Search *search, char *settings)
{
  if (g_ptr_array_find_with_equal_func((GPtrArray *)(gsize)search->tried, settings, g_str_equal, NULL)) {
    g_free(settings);
    return FALSE;
  }
  search->guess->settings = settings;
  return TRUE;
}

/* Adds a step to `fields`. @step: (transfer full): in braces */
static gboolean
propose_step(Search *search, char *step)
{
  const char *before = tide_shape_setting(search->given, "fields");
  g_autofree char *own = step;
  if (before == NULL)
    return propose(search, g_strdup_printf("fields=[%s]", own));
  return strstr(before, own) == NULL && before[0] == '[' &&
         propose(search, g_strdup_printf("fields=%.*s, %s]", (int)strlen(before) - 1, before, own));
}

/* The length of @name up to and including its last '/'. */
static gsize
prefix_of(const char *name)
{
  const char *slash = strrchr(name, '/');
  return slash != NULL ? (gsize)(slash - name) + 1 : 0;
}

static gboolean
is_moment(TideBytes text)
{
  gint64 ns;
  gboolean needs_zone;
  for (guint i = 0; tide_time_form_at(i) != NULL; i++)
    if (tide_time_form_at(i)->is_moment && tide_time_form_read(i, text, &ns, &needs_zone))
      return TRUE;
  return FALSE;
}

/* ---- lists ---------------------------------------------------------------------------------------------------------
 */

/* Splits the list of scalars at the start of @text into unquoted items. 0: it is no such list, or too long. */
static guint
split_list(TideBytes text, TideBytes items[MAX_ITEMS])
{
  guint n = 0;
  gsize at = 1;
  while (text.len > 1 && text.data[0] == '[' && at < text.len && n < MAX_ITEMS) {
    gboolean in_quotes = text.data[at] == '"';
    gsize begin = at += in_quotes ? 1 : 0;
    while (at < text.len && (in_quotes ? text.data[at] != '"' : strchr(",]", text.data[at]) == NULL)) {
      if (!in_quotes && strchr("[{", text.data[at]) != NULL)
        return 0;
      at += in_quotes && text.data[at] == '\\' ? 2 : 1;
    }
    items[n++] = tide_bytes(text.data + begin, MIN(at, text.len) - begin);
    at += in_quotes ? 1 : 0;
    if (at >= text.len || text.data[at] == ']')
      return at < text.len ? n : 0;
    for (at++; at < text.len && text.data[at] == ' ';)
      at++;
  }
  return 0;
}

static guint
items_of(const TideSurveyField *field, TideBytes items[MAX_ITEMS])
{
  TideValueKind kind;
  TideBytes text = first_text(field, &kind);
  return kind == TIDE_VALUE_JSON ? split_list(text, items) : 0;
}

/* Also accepts numbers in quotes. */
static gboolean
is_number(TideBytes text)
{
  g_autofree char *copy = g_strndup((const char *)text.data, text.len);
  char *end;
  (void)g_ascii_strtod(copy, &end);
  return end > copy && *end == '\0';
}

/* Names for a list's values by position: a time, names, and measured values. NULL: no time. (transfer full) */
static char *
positions_of(TideBytes list)
{
  TideBytes items[MAX_ITEMS];
  guint n = split_list(list, items), n_values = 0, n_names = 0;
  g_autoptr(GString) names = g_string_new(NULL);
  gboolean has_time = FALSE;
  for (guint i = 0; i < n; i++) {
    gboolean is_time = !has_time && is_moment(items[i]);
    gboolean is_name = items[i].data[-1] == '"' && !is_number(items[i]);
    guint *count = is_name ? &n_names : &n_values;
    g_string_append_printf(names, "%s%s", i > 0 ? ", " : "", is_time ? "ts" : is_name ? "name" : "value");
    if (!is_time && (*count)++ > 0)
      g_string_append_printf(names, "%u", *count);
    has_time |= is_time;
  }
  return has_time ? g_strdup(names->str) : NULL;
}

static gboolean
guess_positions(Search *search, const char *path, TideBytes list)
{
  g_autofree char *names = positions_of(list);
  return names != NULL && propose(search, g_strdup_printf("each=%s\npositions=[%s]", path, names));
}

/* A message that is not an object: a list of values, or a text that may contain JSON. */
static gboolean
guess_bare(Search *search, TideBytes message)
{
  g_autofree char *names = positions_of(message);
  if (message.len > 2 && message.data[0] == '"' && memchr(message.data, '{', message.len) != NULL)
    return propose(search, g_strdup("positions=[message]\nfields=[{ open: message, into: \"\" }]"));
  return names != NULL && propose(search, g_strdup_printf("positions=[%s]", names));
}

/* The names of the members of the object at the start of @text. Returns: their number */
static guint
members_of(TideBytes text, TideBytes names[MAX_ITEMS])
{
  guint n = 0, depth = 0;
  for (gsize at = 0; at < text.len && n < MAX_ITEMS; at++) {
    guint8 byte = text.data[at];
    depth += byte == '{' || byte == '[' ? 1 : 0;
    depth -= byte == '}' || byte == ']' ? 1 : 0;
    if (depth == 0)
      return n;
    if (byte != '"')
      continue;
    gsize begin = ++at;
    while (at < text.len && text.data[at] != '"')
      at += text.data[at] == '\\' ? 2 : 1;
    gsize behind = at + 1;
    while (behind < text.len && text.data[behind] == ' ')
      behind++;
    if (depth == 1 && behind < text.len && text.data[behind] == ':')
      names[n++] = tide_bytes(text.data + begin, at - begin);
  }
  return n;
}

/* Items that are only a name and a value: each becomes a field. */
static gboolean
guess_pivot(Search *search, const TideSurveyField *field, TideBytes items)
{
  static const char *const of_names[] = {"name", "n", "key", "k", "metric", "label", "tag", "id", "parameter", NULL};
  static const char *const of_values[] = {"value", "val", "v", NULL};
  TideBytes members[MAX_ITEMS];
  if (members_of(items, members) != 2)
    return FALSE;
  g_autofree char *first = g_strndup((const char *)members[0].data, members[0].len),
                  *second = g_strndup((const char *)members[1].data, members[1].len);
  gboolean is_named = g_strv_contains(of_names, first) && g_strv_contains(of_values, second);
  g_autofree char *list = yaml_of(field->name), *name = yaml_of(first), *value = yaml_of(second);
  return is_named &&
         propose_step(search, g_strdup_printf("{ pivot: %s, name: %s, value: %s, into: \"\" }", list, name, value));
}

/* Whether the message is itself a reading: it has a time and another number. */
static gboolean
is_reading(const Search *search)
{
  guint n_times = 0, n_numbers = 0;
  for (guint i = 0; i < search->survey->fields->len; i++) {
    TideValueKind kind;
    const TideSurveyField *field = field_at(search, i);
    TideBytes text = first_text(field, &kind);
    gboolean is_time = kind != TIDE_VALUE_JSON && is_moment(text);
    n_times += is_time ? 1 : 0;
    n_numbers += kind == TIDE_VALUE_NUMBER && !is_time ? 1 : 0;
  }
  return n_times > 0 && n_numbers > 0;
}

/* Whether an item of the list is a named value. */
static gboolean
has_value(TideBytes items)
{
  static const char *const of_values[] = {"value", "val", "v", "reading", "measurement", NULL};
  TideBytes members[MAX_ITEMS];
  guint n = members_of(items, members);
  gboolean found = FALSE;
  for (guint i = 0; i < n && !found; i++) {
    g_autofree char *name = g_strndup((const char *)members[i].data, members[i].len);
    found = tide_survey_name_has(name, of_values);
  }
  return found;
}

/* Returns the names of the first object in @field's list, one per line; NULL if it is not a list of objects. (transfer
 * full) */
static char *
names_in_list(const TideSurveyField *field)
{
  TideValueKind kind;
  TideBytes text = first_text(field, &kind), members[MAX_ITEMS];
  gsize at = 1;
  while (at < text.len && text.data[at] == ' ')
    at++;
  if (kind != TIDE_VALUE_JSON || at >= text.len || text.data[0] != '[' || text.data[at] != '{')
    return NULL;
  GString *names = g_string_new(NULL);
  guint n = members_of(tide_bytes_from(text, at), members);
  for (guint i = 0; i < n; i++)
    g_string_append_printf(names, "%.*s\n", (int)members[i].len, (const char *)members[i].data);
  return g_string_free(names, FALSE);
}

/* Handles sibling lists of similar objects, whose names are data. */
static gboolean
guess_named_lists(Search *search)
{
  g_autofree char *alike = NULL;
  const char *first = NULL;
  guint n = 0;
  for (guint i = 0; i < search->survey->fields->len; i++) {
    const char *name = field_at(search, i)->name;
    g_autofree char *inside = names_in_list(field_at(search, i));
    if (inside == NULL)
      continue;
    first = first != NULL ? first : name;
    if (n++ > 0 && (strcmp(inside, alike) != 0 || prefix_of(name) != prefix_of(first) ||
                    strncmp(name, first, prefix_of(first)) != 0))
      return FALSE;
    g_free(alike);
    alike = g_steal_pointer(&inside);
  }
  if (n < 2 || is_reading(search) || tide_shape_setting(search->given, "each") != NULL)
    return FALSE;
  g_autofree char *steps = g_strdup_printf("%.*s{name}", (int)prefix_of(first), first), *path = yaml_of(steps);
  return propose(search, g_strdup_printf("each=%s", path));
}

/* Lists of objects, each of which is either a reading, or a name and a value for a field. */
static gboolean
guess_each(Search *search)
{
  const char *before = tide_shape_setting(search->given, "each");
  for (guint i = 0; i < search->survey->fields->len; i++) {
    TideValueKind kind;
    const TideSurveyField *field = field_at(search, i);
    TideBytes text = first_text(field, &kind);
    gsize at = 1;
    while (at < text.len && text.data[at] == ' ')
      at++;
    if (kind != TIDE_VALUE_JSON || !field->is_nameable || text.len < 3 || text.data[0] != '[')
      continue;
    g_autofree char *inner = before != NULL ? g_strconcat(before, "/", field->name, NULL) : g_strdup(field->name);
    g_autofree char *path = before != NULL && before[0] == '"' ? NULL : yaml_of(inner);
    if (text.data[at] == '[' && path != NULL && guess_positions(search, path, tide_bytes_from(text, at)))
      return TRUE;
    if (text.data[at] != '{')
      continue;
    if (guess_pivot(search, field, tide_bytes_from(text, at)))
      return TRUE;
    if (before == NULL && is_reading(search) && !has_value(tide_bytes_from(text, at)))
      continue; /* metadata of a reading, such as the gateways that received it */
    if (path == NULL || !propose(search, g_strdup_printf("each=%s", path)))
      continue;
    search->guess->instead = g_strdup_printf("each=%s\nouter_prefix=outer/", path);
    return TRUE;
  }
  return FALSE;
}

/* Lists of one length in one object: one has times, so they are zipped; or one has the names of the other's values. */
static gboolean
guess_parallel(Search *search)
{
  TideBytes items[MAX_ITEMS], others[MAX_ITEMS];
  for (guint i = 0; i < search->survey->fields->len; i++) {
    const TideSurveyField *field = field_at(search, i);
    guint n = items_of(field, items);
    gsize len = prefix_of(field->name);
    gboolean is_time = n > 0 && is_moment(items[0]);
    for (guint k = 0; n > 0 && k < search->survey->fields->len; k++) {
      const TideSurveyField *other = field_at(search, k);
      if (k == i || prefix_of(other->name) != len || strncmp(field->name, other->name, len) != 0 ||
          items_of(other, others) != n)
        continue;
      g_autofree char *outer = g_strndup(field->name, len > 0 ? len - 1 : 0);
      g_autofree char *path = yaml_of(outer), *names = yaml_of(field->name), *values = yaml_of(other->name);
      gboolean is_each = is_time && tide_shape_setting(search->given, "each") == NULL;
      static const char *const of_names[] = {"names", "dsnames", "labels", "keys", "fields", "columns", NULL};
      if (is_each && propose(search, len > 0 ? g_strdup_printf("each=%s\nzip=true", path) : g_strdup("zip=true")))
        return TRUE;
      if (!is_time && g_strv_contains(of_names, field->name + len) &&
          propose_step(search, g_strdup_printf("{ pivot: %s, names: %s, into: \"\" }", values, names)))
        return TRUE;
    }
  }
  return FALSE;
}

/* ---- objects -------------------------------------------------------------------------------------------------------
 */

/* Connect's envelope with a schema, and a change of a row. */
static gboolean
guess_root(Search *search)
{
  const TideFieldSurvey *survey = search->survey;
  if (tide_shape_setting(search->given, "root") == NULL && tide_field_survey_find(survey, "schema/type") != NULL)
    return propose(search, g_strdup("root=payload"));
  for (guint i = 0; i < survey->fields->len; i++) {
    const char *name = field_at(search, i)->name;
    gsize len = prefix_of(name);
    if (strcmp(name + len, "op") != 0)
      continue;
    g_autofree char *after = g_strdup_printf("%.*safter", (int)len, name);
    const char *before = tide_shape_setting(search->given, "root");
    gboolean has_after = FALSE;
    for (guint k = 0; k < survey->fields->len; k++)
      has_after |= g_str_has_prefix(field_at(search, k)->name, after);
    if (has_after && (before == NULL || strcmp(before, "payload") == 0))
      return propose(search, g_strdup_printf("root=%s%s%s\non_missing=skip", before != NULL ? before : "",
                                             before != NULL ? "/" : "", after));
  }
  return FALSE;
}

/* Texts that contain a JSON object, and SenML's base fields. */
static gboolean
guess_steps(Search *search)
{
  static const char *const base_fields[] = {"bn", "bt", "bu", "bv", NULL};
  gboolean has_base = FALSE, has_value = FALSE;
  for (guint i = 0; i < search->survey->fields->len; i++) {
    TideValueKind kind;
    const TideSurveyField *field = field_at(search, i);
    TideBytes text = first_text(field, &kind);
    has_base |= g_strv_contains(base_fields, field->name);
    has_value |= strcmp(field->name, "v") == 0 || strcmp(field->name, "vs") == 0;
    g_autofree char *name = yaml_of(field->name);
    if (kind == TIDE_VALUE_STRING && text.len > 2 && text.data[0] == '{' && text.data[text.len - 1] == '}' &&
        propose_step(search, g_strdup_printf("{ open: %s }", name)))
      return TRUE;
  }
  return has_base && has_value && propose_step(search, g_strdup("{ resolve: senml }"));
}

/* The next of the members of @prefix in @name, with its length; FALSE: there is none, or it has nothing inside. */
static gboolean
member_of(const char *name, const char *prefix, TideBytes *ret_member, const char **ret_rest)
{
  gsize len = strlen(prefix);
  const char *slash = strncmp(name, prefix, len) == 0 ? strchr(name + len, '/') : NULL;
  if (slash == NULL)
    return FALSE;
  *ret_member = tide_bytes(name + len, (gsize)(slash - name) - len);
  *ret_rest = slash + 1;
  return TRUE;
}

/* Whether the member names of @prefix are data: times, or names with numbers whose objects are alike or have a time
 * each. @ret_field: the field for these names. */
static gboolean
has_data_names(const Search *search, const char *prefix, const char **ret_field)
{
  static const char *const names_of_times[] = {"ts", "time", "timestamp", NULL};
  g_autoptr(GHashTable) members = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  gboolean are_times = TRUE, are_numbered = TRUE, have_times = TRUE;
  for (guint i = 0; i < search->survey->fields->len; i++) {
    TideBytes member;
    const char *rest, *name = field_at(search, i)->name;
    if (strncmp(name, prefix, strlen(prefix)) != 0)
      continue;
    if (!member_of(name, prefix, &member, &rest))
      return FALSE;
    char *key = g_strndup((const char *)member.data, member.len);
    const char *before = g_hash_table_lookup(members, key);
    are_times = are_times && member.len > 8 && is_moment(member);
    are_numbered = are_numbered && strpbrk(key, "0123456789") != NULL;
    g_hash_table_insert(members, key, g_strdup_printf("%s%s\n", before != NULL ? before : "", rest));
  }
  GHashTableIter iter;
  gpointer inside, first = NULL;
  g_hash_table_iter_init(&iter, members);
  while (g_hash_table_iter_next(&iter, NULL, &inside)) {
    if (first != NULL && strcmp(first, inside) != 0)
      return FALSE;
    first = inside;
    g_auto(GStrv) rests = g_strsplit(inside, "\n", -1);
    gboolean has_time = FALSE;
    for (guint i = 0; rests[i] != NULL; i++)
      has_time |= tide_survey_name_has(rests[i], names_of_times);
    have_times = have_times && has_time;
  }
  guint n = g_hash_table_size(members);
  *ret_field = are_times ? NAME_OF_TIMES : "name";
  return (n > 0 && are_times) || (n > 1 && (are_numbered || have_times));
}

static gboolean
guess_named_by_data(Search *search)
{
  const char *top;
  if (tide_shape_setting(search->given, "each") == NULL && has_data_names(search, "", &top) &&
      strcmp(top, NAME_OF_TIMES) == 0 && propose(search, g_strdup("each=\"{" NAME_OF_TIMES "}\"")))
    return TRUE;
  const char *before = tide_shape_setting(search->given, "each");
  for (guint i = 0; i < search->survey->fields->len && (before == NULL || before[0] != '"'); i++) {
    const char *name = field_at(search, i)->name, *field;
    for (const char *slash = strchr(name, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
      g_autofree char *prefix = g_strndup(name, (gsize)(slash - name) + 1);
      if (!has_data_names(search, prefix, &field))
        continue;
      g_autofree char *steps = g_strdup_printf("%s%s%s{%s}", before != NULL ? before : "", before != NULL ? "/" : "",
                                               prefix, field),
                      *path = yaml_of(steps);
      if (propose(search, g_strdup_printf("each=%s", path)))
        return TRUE;
    }
  }
  return FALSE;
}

gboolean
tide_guess_shape(const TideFieldSurvey *survey, TideBytes unread, const GPtrArray *given, const GPtrArray *tried,
                 TideShapeGuess *ret_guess)
{
  *ret_guess = (TideShapeGuess){0};
  Search search = {.survey = survey, .given = given, .tried = tried, .guess = ret_guess};
  if (survey->n_readings == 0)
    return guess_bare(&search, unread);
  return guess_root(&search) || guess_steps(&search) || guess_parallel(&search) || guess_named_lists(&search) ||
         guess_each(&search) || guess_named_by_data(&search);
}

/* ---- values --------------------------------------------------------------------------------------------------------
 */

static gboolean
has_decimal_comma(TideBytes text)
{
  g_autofree char *copy = g_strndup((const char *)text.data, text.len);
  char *comma = strchr(copy, ',');
  if (comma == NULL || !g_ascii_isdigit(comma[1]))
    return FALSE;
  *comma = '.';
  return is_number(tide_bytes_of_string(copy));
}

gboolean
tide_guess_decimal_comma(const TideFieldSurvey *survey)
{
  gboolean is_found = FALSE;
  for (guint i = 0; i < survey->fields->len; i++) {
    const TideSurveyField *field = survey->fields->pdata[i];
    guint n_commas = 0, n_texts = 0;
    for (guint k = 0; k < field->values->len; k++) {
      const TideSurveyValue *value = tide_survey_value(field, k);
      if (value->kind == TIDE_VALUE_NUMBER && memchr(value->text.data, '.', value->text.len) != NULL)
        return FALSE;
      gboolean is_text = value->kind == TIDE_VALUE_STRING && value->text.len > 0;
      n_texts += is_text ? 1 : 0;
      n_commas += is_text && has_decimal_comma(value->text) ? 1 : 0;
    }
    is_found = is_found || (n_commas > 0 && n_commas == n_texts);
  }
  return is_found;
}
