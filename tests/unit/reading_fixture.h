/* Readings built by tests. */
#pragma once

#include "model/reading.h"
#include "model/reject.h"
#include "test_case.h"

#define READING_FIXTURE_MAX_FIELDS 64

/* Its names are those that "the configuration uses": all names interned before the maximum was reached. */
typedef struct ReadingFixture {
  TideFieldNames *names; /* owned */
  TideField fields[READING_FIXTURE_MAX_FIELDS];
  guint32 known[READING_FIXTURE_MAX_FIELDS];
  TideReading reading;
} ReadingFixture;

static inline void
reading_fixture_init(ReadingFixture *fixture)
{
  memset(fixture, 0, sizeof *fixture);
  fixture->names = tide_field_names_new();
  fixture->reading.fields = fixture->fields;
  fixture->reading.known = fixture->known;
}

static inline void
reading_fixture_clear(ReadingFixture *fixture)
{
  tide_field_names_free(fixture->names);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ReadingFixture, reading_fixture_clear)

static inline void
reading_set_up(ReadingFixture *fixture, gconstpointer data)
{
  reading_fixture_init(fixture);
}

static inline void
reading_tear_down(ReadingFixture *fixture, gconstpointer data)
{
  reading_fixture_clear(fixture);
}

#define READING_TEST(path) TEST_WITH(ReadingFixture, reading_set_up, reading_tear_down, path)

static inline TideNameId
reading_fixture_id(ReadingFixture *fixture, const char *name)
{
  TideNameId id = tide_field_names_intern(fixture->names, tide_bytes_of_string(name));
  fixture->reading.n_known = MIN(tide_field_names_count(fixture->names), READING_FIXTURE_MAX_FIELDS);
  return id;
}

/* Removes the fields and keeps the names. */
static inline void
reading_fixture_reset(ReadingFixture *fixture)
{
  memset(fixture->known, 0, sizeof fixture->known);
  fixture->reading.n_fields = 0;
}

/* Adds a field, or replaces the field with that name. @text is borrowed. */
static inline void
reading_fixture_set_bytes(ReadingFixture *fixture, const char *name, TideValueKind kind, TideBytes text)
{
  TideNameId id = reading_fixture_id(fixture, name);
  guint32 index = fixture->known[id] > 0 ? fixture->known[id] - 1 : fixture->reading.n_fields++;
  g_assert_cmpuint(index, <, READING_FIXTURE_MAX_FIELDS);
  fixture->fields[index] =
      (TideField){.name_id = id, .kind = kind, .name = tide_field_names_text(fixture->names, id), .text = text};
  fixture->known[id] = index + 1;
}

static inline void
reading_fixture_set(ReadingFixture *fixture, const char *name, const char *text)
{
  reading_fixture_set_bytes(fixture, name, TIDE_VALUE_STRING, tide_bytes_of_string(text));
}

/* Names and texts alternate, up to a NULL. */
static inline void G_GNUC_NULL_TERMINATED
reading_fixture_set_all(ReadingFixture *fixture, ...)
{
  va_list list;
  va_start(list, fixture);
  for (const char *name = va_arg(list, const char *); name != NULL; name = va_arg(list, const char *))
    reading_fixture_set(fixture, name, va_arg(list, const char *));
  va_end(list);
}

static inline void
reading_fixture_set_null(ReadingFixture *fixture, const char *name)
{
  reading_fixture_set_bytes(fixture, name, TIDE_VALUE_NULL, TIDE_BYTES_EMPTY);
}

/* Compares bytes in the HBase shell's notation, so that a failure is readable. (g_assert_cmpmem has lengths of type
 * int.) */
static inline void
assert_same_bytes(TideBytes got, TideBytes expected)
{
  g_autofree char *got_text = tide_bytes_printable(got);
  g_autofree char *expected_text = tide_bytes_printable(expected);
  g_assert_cmpstr(got_text, ==, expected_text);
}
