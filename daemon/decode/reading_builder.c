#include "decode/reading_builder.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* The initial length of the arrays: enough for most schemas. */
#define FIRST_LENGTH 64u

/* Flattened names of a message take at most this many times the largest message. Otherwise a long name around many
 * short ones could exhaust the memory. */
#define NAME_BYTES_FACTOR 4u

/* Limits the outer fields that are copied to each reading. A message may have as many copies as the largest message has
 * room for at this many bytes each; a long field counts as several, since each row has a copy of it. Otherwise a large
 * envelope, or a long record key, with many small readings could exhaust the memory. */
#define BYTES_PER_REPEATED_FIELD 4u
#define BYTES_AS_ONE_FIELD 128u

/* A name with its number, valid as long as the table of names. */
typedef struct ExpectedName {
  TideNameId id; /* NONE: no name is expected */
  TideBytes name;
} ExpectedName;

struct TideReadingBuilder {
  /* set before start, then read-only */
  const TideDecodeOptions *options; /* borrowed */
  TideFieldNames *names;            /* borrowed */
  TideScratch *scratch;             /* borrowed */
  TideBytes separator;              /* borrowed */
  guint32 n_known;
  guint32 max_fields;
  guint64 max_name_bytes;
  gboolean wants_tags;

  /* of the message */
  const TideField *record_fields; /* borrowed */
  guint32 n_record_fields;
  guint32 n_absent;  /* after these: absent fields, whose names no reading may have */
  TideField *fields; /* owned: of all its readings, in sequence */
  guint32 n_fields;
  guint32 fields_capacity;
  TideReading *readings; /* owned */
  guint32 n_readings;
  guint32 readings_capacity;
  GArray *outer; /* owned (element-type TideField): copied to each reading */
  guint32 n_outer_members;
  guint64 n_repeated_fields;
  GArray *rejects;    /* owned (element-type TideReject): of rejected readings */
  guint64 name_bytes; /* taken for flattened names */

  /* of the reading */
  TideBuffer path; /* the objects around the next member, each name followed by the separator */
  guint32 *known;  /* in scratch */
  guint32 first_field;
  guint32 n_name_fields;
  guint32 n_members;
  guint64 name_bytes_before; /* of the earlier readings */
  TideShape taken;           /* of the names that it was offered and used */
  gboolean is_spoiled;
  guint32 generation;     /* its stamp in seen */
  GHashTable *unnumbered; /* owned: Set<TideBytes>, in scratch: its names without a number, because the table is full */

  /* across readings */
  guint32 *seen;       /* owned: by name id, the generation that had it last */
  guint32 n_seen;      /* length of seen */
  ExpectedName *shape; /* owned: the names of the last readings by position */
  guint32 shape_size;  /* length of shape */
  guint64 n_learned;
};

static guint
hash_of_name(gconstpointer key)
{
  const TideBytes *name = key;
  return (guint)XXH3_64bits(name->len > 0 ? name->data : (const guint8 *)"", name->len);
}

static gboolean
is_same_name(gconstpointer a, gconstpointer b)
{
  return tide_bytes_equal(*(const TideBytes *)a, *(const TideBytes *)b);
}

GHashTable *
tide_name_set_new(void)
{
  return g_hash_table_new(hash_of_name, is_same_name);
}

TideReadingBuilder *
tide_reading_builder_new(const TideDecodeOptions *options, TideFieldNames *names, guint32 n_known, TideScratch *scratch)
{
  TideReadingBuilder *builder = g_new0(TideReadingBuilder, 1);
  builder->options = options;
  builder->names = names;
  builder->scratch = scratch;
  builder->separator = tide_bytes_of_string(options->separator);
  builder->n_known = n_known;
  builder->wants_tags = tide_field_names_find(names, TIDE_BYTES_LITERAL(TIDE_FIELD_TAGS)) < n_known;
  builder->max_fields = options->max_fields;
  builder->max_name_bytes = (guint64)options->max_message_bytes * NAME_BYTES_FACTOR;
  builder->fields_capacity = FIRST_LENGTH;
  builder->fields = g_new(TideField, builder->fields_capacity);
  builder->readings_capacity = FIRST_LENGTH;
  builder->readings = g_new(TideReading, builder->readings_capacity);
  builder->outer = g_array_new(FALSE, FALSE, sizeof(TideField));
  builder->rejects = g_array_new(FALSE, FALSE, sizeof(TideReject));
  builder->unnumbered = tide_name_set_new();
  return builder;
}

void
tide_reading_builder_free(TideReadingBuilder *builder)
{
  if (builder == NULL)
    return;
  g_free(builder->fields);
  g_free(builder->readings);
  g_array_unref(builder->outer);
  g_array_unref(builder->rejects);
  tide_buffer_clear_memory(&builder->path);
  g_hash_table_unref(builder->unnumbered);
  g_free(builder->seen);
  g_free(builder->shape);
  g_free(builder);
}

void
tide_reading_builder_begin_message(TideReadingBuilder *builder, const TideField *record_fields, guint32 n_record_fields,
                                   guint32 n_absent)
{
  builder->record_fields = record_fields;
  builder->n_record_fields = n_record_fields;
  builder->n_absent = n_absent;
  builder->n_fields = 0;
  builder->n_readings = 0;
  tide_reading_builder_leave_outer(builder, (TideOuterMark){0});
  builder->n_repeated_fields = 0;
  if (G_UNLIKELY(builder->rejects->len > 0))
    g_array_set_size(builder->rejects, 0);
  builder->name_bytes = 0;
}

/* The new length of an array that needs an element @index. */
static guint32
grown_length(guint32 length, guint32 index)
{
  length = MAX(length, FIRST_LENGTH);
  while (length <= index)
    length = length > G_MAXUINT32 / 2 ? G_MAXUINT32 : length * 2;
  return length;
}

static gboolean
refuse(TideRejectReason reason, TideBytes field, const char *detail, TideReject *ret_reject)
{
  ret_reject->reason = reason;
  ret_reject->field = field;
  ret_reject->detail = detail;
  return FALSE;
}

/* Finds the name's number by its hash, and expects the name at @index of the next reading. */
static G_GNUC_NO_INLINE TideNameId
look_up_name(TideReadingBuilder *builder, guint32 index, TideBytes name)
{
  if (G_UNLIKELY(index >= builder->shape_size)) {
    guint32 size = grown_length(builder->shape_size, index);
    builder->shape = g_renew(ExpectedName, builder->shape, size);
    for (guint32 i = builder->shape_size; i < size; i++)
      builder->shape[i] = (ExpectedName){.id = TIDE_NAME_NONE};
    builder->shape_size = size;
  }
  TideNameId id = tide_field_names_intern(builder->names, name);
  builder->shape[index] = (ExpectedName){.id = id, .name = tide_field_names_text(builder->names, id)};
  return id;
}

/* Finds the name's number by the name at @index of the previous reading, which is nearly always the same. */
static inline TideNameId
number_of(TideReadingBuilder *builder, guint32 index, TideBytes name)
{
  if (G_LIKELY(index < builder->shape_size)) {
    const ExpectedName *expected = &builder->shape[index];
    if (expected->id != TIDE_NAME_NONE && G_LIKELY(tide_bytes_equal(expected->name, name)))
      return expected->id;
  }
  return look_up_name(builder, index, name);
}

/* FALSE: the reading already has the name. */
static inline gboolean
mark_seen(TideReadingBuilder *builder, TideNameId id, TideBytes name)
{
  if (G_UNLIKELY(id == TIDE_NAME_NONE)) {
    TideBytes *key = tide_scratch_take(builder->scratch, sizeof *key);
    *key = name;
    return g_hash_table_add(builder->unnumbered, key);
  }
  if (G_UNLIKELY(id >= builder->n_seen)) {
    guint32 length = grown_length(builder->n_seen, id);
    builder->seen = g_renew(guint32, builder->seen, length);
    memset(builder->seen + builder->n_seen, 0, (length - builder->n_seen) * sizeof *builder->seen);
    builder->n_seen = length;
  }
  if (builder->seen[id] == builder->generation)
    return FALSE;
  builder->seen[id] = builder->generation;
  return TRUE;
}

/* @name, flattened with the objects around it. */
static TideBytes
flatten(TideReadingBuilder *builder, TideBytes name)
{
  TideBytes path = tide_buffer_bytes(&builder->path);
  guint8 *flat = tide_scratch_take(builder->scratch, path.len + name.len);
  memcpy(flat, path.data, path.len);
  if (name.len > 0)
    memcpy(flat + path.len, name.data, name.len);
  builder->name_bytes += path.len + name.len;
  return tide_bytes(flat, path.len + name.len);
}

/* Whether an outer field is called @name. */
static gboolean
is_outer(const TideReadingBuilder *builder, TideBytes name)
{
  for (guint i = 0; i < builder->outer->len; i++)
    if (tide_bytes_equal(g_array_index(builder->outer, TideField, i).name, name))
      return TRUE;
  return FALSE;
}

/* Flattens, numbers and checks the name of the next member. Inlined, because each value of each reading passes here. */
static G_ALWAYS_INLINE inline gboolean
name_member(TideReadingBuilder *builder, TideBytes name, TideBytes *ret_name, TideNameId *ret_id,
            TideReject *ret_reject)
{
  if (G_UNLIKELY(builder->n_members >= builder->max_fields))
    return refuse(TIDE_REJECT_TOO_MANY_FIELDS, name, NULL, ret_reject);
  if (G_UNLIKELY(builder->path.len + name.len > TIDE_FIELD_NAME_MAX_BYTES))
    return refuse(TIDE_REJECT_TOO_LARGE, name,
                  "a field name longer than " G_STRINGIFY(TIDE_FIELD_NAME_MAX_BYTES) " bytes", ret_reject);
  if (builder->path.len > 0) {
    name = flatten(builder, name);
    if (G_UNLIKELY(builder->name_bytes > builder->max_name_bytes))
      return refuse(TIDE_REJECT_TOO_LARGE, name, "the names of nested fields take too much memory", ret_reject);
  }
  TideNameId id = number_of(builder, builder->n_members, name);
  if (G_UNLIKELY(!mark_seen(builder, id, name))) {
    if (is_outer(builder, name))
      ret_reject->remedy = "it is both around the list of readings and in them: 'readings.outer_prefix' adds a "
                           "prefix to the names of the outer values";
    return refuse(TIDE_REJECT_DUPLICATE_FIELD, name, NULL, ret_reject);
  }
  builder->n_members++;
  *ret_name = name;
  *ret_id = id;
  return TRUE;
}

/* Room for the next @n fields; they do not count until they are kept. */
static inline TideField *
next_fields(TideReadingBuilder *builder, guint32 n)
{
  if (G_UNLIKELY(builder->n_fields + n > builder->fields_capacity)) {
    builder->fields_capacity = grown_length(builder->fields_capacity, builder->n_fields + n);
    builder->fields = g_renew(TideField, builder->fields, builder->fields_capacity);
  }
  return &builder->fields[builder->n_fields];
}

static inline void
keep_field(TideReadingBuilder *builder, TideNameId id)
{
  builder->n_fields++;
  if (id < builder->n_known)
    builder->known[id] = builder->n_fields - builder->first_field;
}

/* Keeps a field with name and number. FALSE: the reading already has the name. Separate, because few readings have such
 * fields and must not slow down the others. */
static G_GNUC_NO_INLINE gboolean
add_made_field(TideReadingBuilder *builder, const TideField *field)
{
  if (!mark_seen(builder, field->name_id, field->name))
    return FALSE;
  *next_fields(builder, 1) = *field;
  keep_field(builder, field->name_id);
  return TRUE;
}

/* Appends @fields, which each reading has. */
static void
repeat(TideReadingBuilder *builder, const TideField *fields, guint n)
{
  for (guint i = 0; i < n; i++)
    builder->n_repeated_fields += (fields[i].name.len + fields[i].text.len) / BYTES_AS_ONE_FIELD;
}

gboolean
tide_reading_builder_begin_reading(TideReadingBuilder *builder, TideReject *ret_reject)
{
  if (builder->n_readings >= builder->options->max_readings)
    return refuse(TIDE_REJECT_TOO_LARGE, TIDE_BYTES_EMPTY, "more readings than a message may have", ret_reject);
  builder->n_repeated_fields += builder->outer->len;
  if (builder->n_readings > 0) {
    repeat(builder, (const TideField *)(gconstpointer)builder->outer->data, builder->outer->len);
    repeat(builder, builder->record_fields, builder->n_record_fields);
  }
  if (G_UNLIKELY(builder->n_repeated_fields > builder->options->max_message_bytes / BYTES_PER_REPEATED_FIELD))
    return refuse(TIDE_REJECT_TOO_LARGE, TIDE_BYTES_EMPTY,
                  "the fields that all its readings share take too much memory when copied to each", ret_reject);
  tide_buffer_reset(&builder->path);
  gsize known_bytes = builder->n_known * sizeof *builder->known;
  builder->known = memset(tide_scratch_take(builder->scratch, known_bytes), 0, known_bytes);
  builder->first_field = builder->n_fields;
  builder->n_members = builder->n_name_fields = 0;
  builder->name_bytes_before = builder->name_bytes;
  builder->taken = (TideShape){0};
  builder->is_spoiled = FALSE;
  if (G_UNLIKELY(g_hash_table_size(builder->unnumbered) > 0))
    g_hash_table_remove_all(builder->unnumbered);
  builder->generation++;
  if (G_UNLIKELY(builder->generation == 0)) {
    /* The generation has wrapped around: old stamps must not look current. */
    if (builder->n_seen > 0)
      memset(builder->seen, 0, builder->n_seen * sizeof *builder->seen);
    builder->generation = 1;
  }
  /* Their names were checked before: they are unique and within the limits. */
  for (guint i = 0; i < builder->outer->len; i++)
    (void)add_made_field(builder, &g_array_index(builder->outer, TideField, i));
  builder->n_members = builder->n_outer_members;
  return TRUE;
}

void
tide_reading_builder_set_prefix(TideReadingBuilder *builder, TideBytes prefix)
{
  tide_buffer_reset(&builder->path);
  tide_buffer_append_bytes(&builder->path, prefix);
}

TideOuterMark
tide_reading_builder_end_outer(TideReadingBuilder *builder)
{
  TideOuterMark mark = {builder->outer->len, builder->n_outer_members};
  /* The earlier outer fields are at its beginning. */
  g_array_set_size(builder->outer, 0);
  g_array_append_vals(builder->outer, builder->fields + builder->first_field, builder->n_fields - builder->first_field);
  builder->n_outer_members = builder->n_members;
  builder->n_fields = builder->first_field;
  return mark;
}

void
tide_reading_builder_leave_outer(TideReadingBuilder *builder, TideOuterMark mark)
{
  if (builder->outer->len > mark.n_fields)
    g_array_set_size(builder->outer, mark.n_fields);
  builder->n_outer_members = mark.n_members;
}

gboolean
tide_reading_builder_add(TideReadingBuilder *builder, TideBytes name, TideValueKind kind, TideBytes text,
                         TideReject *ret_reject)
{
  TideField *field = next_fields(builder, 1);
  if (!name_member(builder, name, &field->name, &field->name_id, ret_reject))
    return FALSE;
  field->kind = kind;
  field->text = text;
  keep_field(builder, field->name_id);
  return TRUE;
}

void
tide_reading_builder_end_names(TideReadingBuilder *builder)
{
  builder->n_name_fields = builder->n_fields - builder->first_field;
}

gboolean
tide_reading_builder_wants_tags(const TideReadingBuilder *builder)
{
  return builder->wants_tags;
}

gboolean
tide_reading_builder_enter(TideReadingBuilder *builder, TideBytes name, gsize *ret_outer, TideReject *ret_reject)
{
  TideBytes flat;
  TideNameId id;
  if (!name_member(builder, name, &flat, &id, ret_reject))
    return FALSE;
  if (builder->options->objects == TIDE_OBJECT_MARKED) {
    *next_fields(builder, 1) =
        (TideField){.kind = TIDE_VALUE_JSON, .name_id = id, .name = flat, .text = TIDE_BYTES_LITERAL("{")};
    keep_field(builder, id);
  }
  *ret_outer = builder->path.len;
  tide_buffer_append_bytes(&builder->path, name);
  tide_buffer_append_bytes(&builder->path, builder->separator);
  return TRUE;
}

void
tide_reading_builder_leave(TideReadingBuilder *builder, gsize outer)
{
  builder->path.len = outer;
}

gboolean
tide_reading_builder_can_spoil(const TideReadingBuilder *builder, const TideReject *reject)
{
  switch ((int)reject->reason) {
  case TIDE_REJECT_DUPLICATE_FIELD:
  case TIDE_REJECT_TOO_MANY_FIELDS:
  case TIDE_REJECT_TYPE:
  case TIDE_REJECT_NUMBER:
  case TIDE_REJECT_UTF8:
    return builder->options->on_bad_reading == TIDE_BAD_READING_ALONE;
  default:
    return FALSE;
  }
}

/* Until the end of the reading nothing more is added, and then it has no fields. */
static void
drop_fields(TideReadingBuilder *builder)
{
  builder->is_spoiled = TRUE;
  builder->n_fields = builder->first_field;
  if (builder->n_known > 0)
    memset(builder->known, 0, builder->n_known * sizeof *builder->known);
}

static inline void
end_reading(TideReadingBuilder *builder)
{
  if (builder->n_readings == builder->readings_capacity) {
    builder->readings_capacity = grown_length(builder->readings_capacity, builder->n_readings);
    builder->readings = g_renew(TideReading, builder->readings, builder->readings_capacity);
  }
  builder->readings[builder->n_readings] = (TideReading){
      .n_fields = builder->n_fields - builder->first_field,
      .known = builder->known,
      .n_known = builder->n_known,
      .index = builder->n_readings,
      .shape = builder->taken,
      .n_name_fields = builder->is_spoiled ? 0 : builder->n_name_fields,
  };
  builder->n_readings++;
}

void
tide_reading_builder_spoil(TideReadingBuilder *builder, TideReject *reject)
{
  TideReject kept = *reject;
  kept.reading_index = builder->n_readings;
  if (kept.field.len > 0) {
    guint8 *field = tide_scratch_take(builder->scratch, kept.field.len);
    memcpy(field, kept.field.data, kept.field.len);
    kept.field.data = field;
  }
  g_array_append_val(builder->rejects, kept);
  *reject = (TideReject){.byte_position = -1};
  drop_fields(builder);
}

gboolean
tide_reading_builder_skip(TideReadingBuilder *builder)
{
  drop_fields(builder);
  end_reading(builder);
  builder->readings[builder->n_readings - 1].is_skipped = TRUE;
  return TRUE;
}

gboolean
tide_reading_builder_end_reading(TideReadingBuilder *builder, TideReject *ret_reject)
{
  /* A reading that is rejected here is not learned, so learned names need no check. */
  for (guint32 i = 0; i < builder->n_record_fields + builder->n_absent && !builder->is_spoiled; i++) {
    const TideField *field = &builder->record_fields[i];
    if (i < builder->n_record_fields ? !add_made_field(builder, field)
                                     : !mark_seen(builder, field->name_id, field->name))
      return refuse(TIDE_REJECT_DUPLICATE_FIELD, field->name, TIDE_NAME_IS_OF_RECORD, ret_reject);
  }
  end_reading(builder);
  return TRUE;
}

/* ---- names that are known ---- */

void
tide_reading_names_clear(TideReadingNames *names)
{
  g_clear_pointer(&names->fields, g_free);
  g_clear_pointer(&names->known, g_free);
  names->shape.serial = 0;
}

gboolean
tide_reading_builder_learn(TideReadingBuilder *builder, TideReadingNames *names)
{
  const TideField *fields = builder->fields + builder->first_field;
  guint32 n_fields = builder->n_fields - builder->first_field;
  tide_reading_names_clear(names);
  if (builder->is_spoiled || n_fields > TIDE_READING_NAMES_MAX_FIELDS)
    return FALSE;
  for (guint32 i = 0; i < n_fields; i++)
    if (fields[i].name_id == TIDE_NAME_NONE || fields[i].kind == TIDE_VALUE_JSON)
      return FALSE;
  names->n_outer = builder->outer->len;
  names->n_record = builder->n_record_fields;
  names->n_own = n_fields - names->n_outer - names->n_record;
  names->n_outer_members = builder->n_outer_members;
  names->n_members = builder->n_members;
  names->name_bytes = builder->name_bytes - builder->name_bytes_before;
  names->known = g_memdup2(builder->known, builder->n_known * sizeof *builder->known);
  names->fields = g_new0(TideField, MAX(n_fields, 1)); // not NULL, even without names
  for (guint32 i = 0; i < n_fields; i++) {
    TideNameId id = fields[i].name_id;
    names->fields[i] = (TideField){.name_id = id, .name = tide_field_names_text(builder->names, id)};
  }
  names->shape.serial = ++builder->n_learned;
  return TRUE;
}

static gboolean
are_same_names(const TideField *a, const TideField *b, guint32 n)
{
  for (guint32 i = 0; i < n; i++)
    if (a[i].name_id != b[i].name_id)
      return FALSE;
  return TRUE;
}

TideField *
tide_reading_builder_offer(TideReadingBuilder *builder, const TideReadingNames *names)
{
  if (names->shape.serial == 0 || names->n_outer != builder->outer->len ||
      names->n_outer_members != builder->n_outer_members || names->n_record != builder->n_record_fields ||
      builder->name_bytes + names->name_bytes > builder->max_name_bytes)
    return NULL;
  // If no names were ever learned, the array may be NULL.
  const TideField *outer = builder->fields + builder->first_field;
  const TideField *record = names->fields + names->n_outer + names->n_own;
  if (!are_same_names(names->fields, outer, names->n_outer) ||
      !are_same_names(record, builder->record_fields, names->n_record))
    return NULL;
  return next_fields(builder, names->n_own);
}

void
tide_reading_builder_take_offered(TideReadingBuilder *builder, const TideReadingNames *names, gboolean some_null)
{
  builder->n_fields += names->n_own;
  builder->n_members = names->n_members;
  builder->name_bytes += names->name_bytes;
  if (builder->n_known > 0)
    memcpy(builder->known, names->known, builder->n_known * sizeof *builder->known);
  for (guint i = 0; i < names->n_outer; i++)
    some_null |= g_array_index(builder->outer, TideField, i).kind == TIDE_VALUE_NULL;
  if (!some_null)
    builder->taken = names->shape;
}

TideReading *
tide_reading_builder_finish(TideReadingBuilder *builder, guint32 *ret_n_readings)
{
  /* The array of fields has its final address only now. */
  const TideField *fields = builder->fields;
  for (guint32 i = 0; i < builder->n_readings; i++) {
    builder->readings[i].fields = fields;
    fields += builder->readings[i].n_fields;
  }
  *ret_n_readings = builder->n_readings;
  return builder->readings;
}

guint64
tide_reading_builder_name_bytes(const TideReadingBuilder *builder)
{
  return builder->name_bytes;
}

guint32
tide_reading_builder_n_readings(const TideReadingBuilder *builder)
{
  return builder->n_readings;
}

const TideReject *
tide_reading_builder_rejects(const TideReadingBuilder *builder, guint32 *ret_n_rejects)
{
  *ret_n_rejects = builder->rejects->len;
  return (const TideReject *)(gconstpointer)builder->rejects->data;
}
