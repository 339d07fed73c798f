/* What is guessed, what somebody says instead, and the sentences where neither will do. */
#include "commands/init/draft.h"

#include "unit/sample_survey.h"
#include "unit/test_case.h"
#include "util/error.h"

#define NOW_MS G_GINT64_CONSTANT(1795452867045)

typedef struct Fixture {
  TideInitSamples *samples;
  TideInitDraft draft;
  GError *error;
} Fixture;

static Fixture
draft_of(const char *text)
{
  Fixture fixture = {.samples = read_samples(text)};
  tide_init_draft_begin(&fixture.draft, fixture.samples, NOW_MS);
  return fixture;
}

static void
end(Fixture *fixture)
{
  tide_init_draft_clear(&fixture->draft);
  tide_init_samples_free(fixture->samples);
  g_clear_error(&fixture->error);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Fixture, end)

static void
assert_said(Fixture *fixture, TideErrorCode code, const char *part)
{
  g_assert_error(fixture->error, TIDE_ERROR, (int)code);
  if (strstr(fixture->error->message, part) == NULL)
    g_error("'%s' is not said: %s", part, fixture->error->message);
  g_clear_error(&fixture->error);
}

static gboolean
set_key(Fixture *fixture, const char *name)
{
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  g_ptr_array_add(names, (gpointer)(gsize)name);
  return tide_init_draft_set_key(&fixture->draft, names, &fixture->error);
}

/* Lines of one host that tell of different things are rows of their own, though no sample has shown it. */
TEST("/draft/measurement-is-in-the-key")
{
  static const TideBytes text =
      TIDE_BYTES_LITERAL("cpu,host=a u=1 1795452860000000000\nmem,host=a f=1 1795452861000000000\n");
  Fixture fixture = {.samples = read_samples_of(TIDE_FORMAT_INFLUX, text)};
  tide_init_draft_begin(&fixture.draft, fixture.samples, NOW_MS);
  g_assert_true(tide_init_draft_guess_time(&fixture.draft, NULL) && tide_init_draft_guess_key(&fixture.draft, NULL));
  g_assert_cmpstr(fixture.draft.proposal.time_field, ==, "time");
  g_assert_cmpuint(fixture.draft.proposal.key->len, ==, 2);
  g_assert_cmpstr(fixture.draft.proposal.key->pdata[0], ==, "host");
  g_assert_cmpstr(fixture.draft.proposal.key->pdata[1], ==, "measurement");
  end(&fixture);
}

/* Lines with different tags have all of them in the key. */
TEST("/draft/tags-are-in-the-key")
{
  static const TideBytes text = TIDE_BYTES_LITERAL("cpu,host=a,cpu=cpu0 u=1 1795452860000000000\n"
                                                   "disk,host=a,device=sda f=1 1795452860000000000\n");
  Fixture fixture = {.samples = read_samples_of(TIDE_FORMAT_INFLUX, text)};
  tide_init_draft_begin(&fixture.draft, fixture.samples, NOW_MS);
  g_assert_true(tide_init_draft_guess_time(&fixture.draft, NULL) && tide_init_draft_guess_key(&fixture.draft, NULL));
  g_assert_cmpuint(fixture.draft.proposal.key->len, ==, 2);
  g_assert_cmpstr(fixture.draft.proposal.key->pdata[0], ==, "measurement");
  g_assert_cmpstr(fixture.draft.proposal.key->pdata[1], ==, "$tags");
  end(&fixture);
}

/* A pattern that reads all samples is proposed; of two that read them as other times, none is. */
TEST("/draft/a-pattern-of-the-time")
{
  g_auto(Fixture) fixture = draft_of("{\"host\":\"a\",\"ts\":\"Mon, 23 Nov 2026 09:05:07 GMT\",\"v\":1}");
  g_assert_true(tide_init_draft_guess_time(&fixture.draft, NULL));
  g_assert_cmpint(fixture.draft.proposal.time_format, ==, TIDE_TIME_PATTERN);
  g_assert_cmpstr(fixture.draft.proposal.time_parts.pattern, ==, "EEE, d MMM yyyy HH:mm:ss 'GMT'");
  g_assert_cmpstr(fixture.draft.proposal.zone, ==, "UTC");
  g_auto(Fixture) unclear = draft_of("{\"host\":\"a\",\"ts\":\"11/10/2026 9:05\",\"v\":1}");
  g_assert_false(tide_init_draft_guess_time(&unclear.draft, &unclear.error));
  assert_said(&unclear, TIDE_ERROR_DATA,
              "match both time patterns 'd/M/yyyy H:mm[:ss[.f]]' and 'M/d/yyyy H:mm[:ss[.f]]'");
  g_assert_false(tide_init_draft_set_time(&unclear.draft, "ts", &unclear.error));
  assert_said(&unclear, TIDE_ERROR_DATA, "add a sample whose day is after the 12th");
}

/* What is proposed for a shell, a shell takes as it is. */
TEST("/draft/words-for-a-shell")
{
  g_auto(Fixture) fixture = draft_of("{\"Device A\":[{\"x\":1}],\"ts\":1795452860,\"v\":1}");
  g_assert_true(set_key(&fixture, "$key"));
  g_assert_cmpstr(fixture.draft.proposal.key->pdata[0], ==, "$key");
  g_autoptr(GPtrArray) notes = tide_init_draft_notes(&fixture.draft);
  gboolean is_quoted = FALSE;
  for (guint i = 0; i < notes->len; i++)
    is_quoted |= strstr(notes->pdata[i], "--each 'Device A'") != NULL;
  g_assert_true(is_quoted);
}

TEST("/draft/said-instead")
{
  g_auto(Fixture) fixture =
      draft_of("{\"host\":\"a\",\"rack\":\"r#1\",\"ts\":1795452860,\"made\":1795452000045,\"v\":1}");
  TideInitDraft *draft = &fixture.draft;
  g_assert_true(tide_init_draft_guess_time(draft, NULL) && tide_init_draft_guess_key(draft, NULL));
  g_assert_cmpstr(draft->proposal.time_field, ==, "ts");
  g_assert_cmpint(draft->proposal.time_format, ==, TIDE_TIME_EPOCH_S);
  g_assert_cmpstr(draft->proposal.key->pdata[0], ==, "host");
  g_assert_cmpstr(draft->proposal.separator, ==, "#");
  g_assert_true(tide_init_draft_set_time(draft, "made", NULL));
  g_assert_cmpstr(draft->proposal.time_field, ==, "made");
  g_assert_cmpint(draft->proposal.time_format, ==, TIDE_TIME_EPOCH_MS);
  g_assert_true(set_key(&fixture, "rack"));
  g_assert_cmpuint(draft->proposal.key->len, ==, 1);
  g_assert_cmpstr(draft->proposal.key->pdata[0], ==, "rack");
  g_assert_cmpstr(draft->proposal.separator, ==, "|");
  g_assert_true(tide_init_draft_set_time(draft, "$timestamp", NULL));
  g_assert_null(draft->proposal.time_field);
  g_assert_cmpint(draft->proposal.time_format, ==, TIDE_TIME_RECORD);
}

TEST("/draft/zone")
{
  g_auto(Fixture) fixture = draft_of("{\"host\":\"a\",\"ts\":\"2026-11-23T16:54:27\",\"v\":1}");
  g_assert_true(tide_init_draft_guess_time(&fixture.draft, NULL));
  g_assert_true(fixture.draft.needs_zone);
  g_assert_false(tide_init_draft_set_zone(&fixture.draft, "Mars/Olympus", &fixture.error));
  assert_said(&fixture, TIDE_ERROR_USAGE, "there is no time zone 'Mars/Olympus'");
  g_auto(Fixture) date = draft_of("{\"host\":\"a\",\"day\":\"2026-11-23\",\"v\":1}");
  g_assert_true(tide_init_draft_set_time(&date.draft, "day", NULL));
  g_assert_cmpstr(date.draft.proposal.time_parts.pattern, ==, "yyyy-MM-dd");
  g_assert_true(date.draft.needs_zone);
  g_assert_true(tide_init_draft_set_zone(&fixture.draft, "Europe/Berlin", NULL));
  g_assert_cmpstr(fixture.draft.proposal.zone, ==, "Europe/Berlin");
}

TEST("/draft/refused")
{
  Fixture fixture;
  fixture = draft_of(
      "{\"host\":\"a\",\"v\":1,\"x\":1426535612,\"some\":1795452860}\n{\"host\":\"b\",\"v\":2,\"x\":1426535613}");
  TideInitDraft *draft = &fixture.draft;
  g_assert_false(tide_init_draft_guess_time(draft, &fixture.error));
  assert_said(&fixture, TIDE_ERROR_DATA, "'x' could be it, in epoch_s (2015-03-16T19:53:33.000Z)");
  g_assert_false(tide_init_draft_set_time(draft, "hots", &fixture.error));
  assert_said(&fixture, TIDE_ERROR_USAGE, "no sample has the field 'hots': did you mean 'host'?");
  g_assert_false(tide_init_draft_set_time(draft, "v", &fixture.error));
  assert_said(&fixture, TIDE_ERROR_DATA, "the first value is '1'");
  g_assert_false(tide_init_draft_set_time(draft, "some", &fixture.error));
  assert_said(&fixture, TIDE_ERROR_DATA, "of only 1 of 2 readings");
  g_assert_true(set_key(&fixture, "some")); /* what lacks it has a default there */
  g_assert_cmpuint(draft->proposal.lacking->len, ==, 1);
  end(&fixture);
  fixture = draft_of("{\"ts\":1795452860,\"v\":1.5}");
  g_assert_false(tide_init_draft_guess_key(&fixture.draft, &fixture.error));
  assert_said(&fixture, TIDE_ERROR_DATA, "name the fields that do with '--key FIELD'");
  end(&fixture);
  fixture = draft_of("{\"host\":\"a\",\"readings\":[{\"ts\":1795452860}]}");
  g_assert_false(tide_init_draft_guess_time(&fixture.draft, &fixture.error));
  assert_said(&fixture, TIDE_ERROR_DATA, "'readings' is a list of objects inside a reading");
  end(&fixture);
  fixture = draft_of("{\"host\":\"a\",\"metrics\":[{\"ts\":1795452860}]}");
  g_assert_false(tide_init_draft_guess_time(&fixture.draft, &fixture.error));
  assert_said(&fixture, TIDE_ERROR_DATA, "use --each metrics");
  end(&fixture);
  fixture = draft_of("{\"payload\":{\"host\":\"a\",\"metrics\":[{\"ts\":1795452860}]}}");
  g_assert_false(tide_init_draft_guess_time(&fixture.draft, &fixture.error));
  assert_said(&fixture, TIDE_ERROR_DATA, "use --each payload/metrics");
  end(&fixture);
}

/* Joined notes of @text with the guesses, or @key in their place. */
static void
assert_notes(const char *text, const char *key, const char *part, gboolean expected)
{
  g_auto(Fixture) fixture = draft_of(text);
  g_assert_true(tide_init_draft_guess_time(&fixture.draft, NULL));
  g_assert_true(key != NULL ? set_key(&fixture, key) : tide_init_draft_guess_key(&fixture.draft, NULL));
  g_autoptr(GPtrArray) notes = tide_init_draft_notes(&fixture.draft);
  gboolean is_said = FALSE;
  for (guint i = 0; i < notes->len; i++)
    is_said = is_said || strstr(notes->pdata[i], part) != NULL;
  g_test_message("%s: %s", text, part);
  g_assert_cmpint(is_said, ==, expected);
}

TEST("/draft/notes")
{
  static const char two[] = "{\"host\":\"a\",\"disk\":\"x\",\"ts\":1795452860,\"v\":1}\n"
                            "{\"host\":\"a\",\"disk\":\"y\",\"ts\":1795452860,\"v\":2}";
  assert_notes(two, NULL, "would be overwritten by another reading", FALSE);
  assert_notes(two, "host", "2 values would be overwritten by another reading with the same key and time", TRUE);
  assert_notes(two, NULL, "based on one reading only", FALSE);
  assert_notes("{\"host\":\"a\",\"wagon\":\"w\",\"ts\":1795452860,\"v\":1}", NULL,
               "the key has no 'wagon': devices that differ only in that share rows", TRUE);
  assert_notes("{\"host\":\"a\",\"wagon\":\"w\",\"ts\":1795452860,\"v\":1}", "host", "the key has no", FALSE);
  assert_notes("{\"host\":\"a\",\"ts\":1795452860,\"v\":1}", NULL, "based on one reading only", TRUE);
  assert_notes("{\"host\":\"a\",\"ts\":1795452860,\"v\":\"1.5\"}", NULL, "no field contains a number", FALSE);
  assert_notes("{\"host\":\"7\",\"ts\":1795452860,\"v\":\"on\"}", NULL, "no field contains a number", TRUE);
  assert_notes("{\"host\":\"a\",\"ts\":1795452860,\"v\":[{\"x\":1}]}", NULL, "'v' is a list of objects", TRUE);
  assert_notes("{\"host\":\"a\",\"ts\":1795452860,\"v\":[1]}", NULL, "is a list of objects", FALSE);
}

/* What @text leaves unsure of the key that is guessed; @part: NULL: nothing. */
static void
assert_doubt(const char *text, const char *part, const char *remedy_part)
{
  g_auto(Fixture) fixture = draft_of(text);
  g_assert_true(tide_init_draft_guess_time(&fixture.draft, NULL) && tide_init_draft_guess_key(&fixture.draft, NULL));
  g_autofree char *remedy = NULL;
  g_autofree char *doubt = tide_init_draft_doubt_of_key(&fixture.draft, &remedy);
  g_test_message("%s: %s; %s", text, doubt, remedy);
  if (part == NULL)
    g_assert_null(doubt);
  else {
    g_assert_nonnull(doubt);
    g_assert_nonnull(strstr(doubt, part));
    g_assert_nonnull(strstr(remedy, remedy_part));
  }
}

/* A round of 40 machines of 4 sites, each with @more, and as often as @n_rounds. (transfer full) */
static char *
rounds_of_machines(guint n_rounds, const char *machine, const char *more)
{
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < 40 * n_rounds; i++)
    g_string_append_printf(text, "{\"site\":\"s%u\",\"%s\":\"m-%u\",\"ts\":%u,\"temp\":%u.5%s}\n", i % 4, machine,
                           i % 40, 1795452000 + i, i % 7, more);
  return g_string_free(text, FALSE);
}

/* Machines that were merged into their site would overwrite each other. */
TEST("/draft/doubts-of-the-key")
{
  g_autofree char *one = rounds_of_machines(1, "machine", ""), *two = rounds_of_machines(2, "machine", "");
  g_autofree char *nested = rounds_of_machines(1, "unit/press", "");
  g_autofree char *of_event = rounds_of_machines(1, "event_id", ""),
                  *of_state = rounds_of_machines(1, "status_text", "");
  assert_doubt(one, "key 'site' is a guess: no value of 'machine' (text, 40 different) repeats in these 40 readings",
               "if it names the device, use --key machine, otherwise --key site, or give more samples");
  assert_doubt(nested, "no value of 'unit/press' (text, 40 different)", "use --key unit/press, ");
  assert_doubt(two, NULL, NULL);
  assert_doubt(of_event, NULL, NULL);
  assert_doubt(of_state, NULL, NULL);
  assert_doubt("{\"site\":\"a\",\"pump\":1,\"ts\":1795452860}\n{\"site\":\"a\",\"pump\":2,\"ts\":1795452861}\n"
               "{\"site\":\"a\",\"pump\":3,\"ts\":1795452862}",
               "no value of 'pump' (whole numbers, 3 different)", "use --key pump, ");
  /* A number without a name of a thing is what was measured; of one reading nothing is more different than another. */
  assert_doubt("{\"site\":\"a\",\"load\":1,\"ts\":1795452860}\n{\"site\":\"a\",\"load\":2,\"ts\":1795452861}", NULL,
               NULL);
  assert_doubt("{\"site\":\"a\",\"machine\":\"m\",\"ts\":1795452860}", NULL, NULL);
  /* Two readings of one thing and moment, which no field tells apart. */
  assert_doubt("{\"host\":\"a\",\"v\":1.5,\"ts\":1795452860}\n{\"host\":\"a\",\"v\":2.5,\"ts\":1795452860}",
               "key 'host' is a guess: in these 2 readings, 1 value would be overwritten by another reading with the",
               "or accept the key with --key host");
}

static void
assert_header_note(TideInitForm form, const char *text, gboolean expected)
{
  Fixture fixture = {.samples = read_samples_as(form, tide_bytes_of_string(text))};
  tide_init_draft_begin(&fixture.draft, fixture.samples, NOW_MS);
  g_autoptr(GPtrArray) notes = tide_init_draft_notes(&fixture.draft);
  gboolean is_said = FALSE;
  for (guint i = 0; i < notes->len; i++)
    is_said = is_said || strstr(notes->pdata[i], "is read as the name of a column") != NULL;
  g_assert_cmpint(is_said, ==, expected);
  end(&fixture);
}

TEST("/draft/header-notes")
{
  static const char values[] = "pump 1,230\npump 2,231\n";
  assert_header_note((TideInitForm){.format = TIDE_FORMAT_CSV}, values, TRUE);
  assert_header_note((TideInitForm){.format = TIDE_FORMAT_CSV}, "pump,volt\npump 1,230\n", FALSE);
  assert_header_note((TideInitForm){.format = TIDE_FORMAT_CSV, .columns = "pump,230"}, values, FALSE);
  assert_header_note((TideInitForm){.format = TIDE_FORMAT_JSON}, "{\"pump 1\":\"a\",\"230\":1}", FALSE);
}

/* A configuration that is made of a reading's values fits no other reading. */
TEST("/draft/value-for-a-name")
{
  static const char lines[] = "1795452859,pump 1,230\n1795452860,pump 1,231\n";
  const TideInitForm form = {.format = TIDE_FORMAT_CSV}, named = {.format = TIDE_FORMAT_CSV, .columns = "1,2,3"};
  Fixture fixture = {.samples = read_samples_as(form, tide_bytes_of_string(lines))};
  tide_init_draft_begin(&fixture.draft, fixture.samples, NOW_MS);
  g_assert_false(tide_init_draft_set_time(&fixture.draft, "1795452859", &fixture.error));
  assert_said(&fixture, TIDE_ERROR_USAGE, "name the columns with '--columns host,ts,...'");
  end(&fixture);
  fixture.samples = read_samples_as(form, TIDE_BYTES_LITERAL("2026-11-23T16:54:27Z,1\n2026-11-23T16:54:28Z,2\n"));
  tide_init_draft_begin(&fixture.draft, fixture.samples, NOW_MS);
  g_assert_false(tide_init_draft_set_time(&fixture.draft, "2026-11-23T16:54:27Z", &fixture.error));
  assert_said(&fixture, TIDE_ERROR_USAGE, "'2026-11-23T16:54:27Z' is a time, not the name");
  g_assert_false(tide_init_draft_guess_time(&fixture.draft, &fixture.error));
  assert_said(&fixture, TIDE_ERROR_DATA, "'2026-11-23T16:54:27Z' is a time, not the name");
  end(&fixture);
  /* It is not clearly the time: it is long ago, and its name does not suggest one. */
  fixture.samples = read_samples_as(form, TIDE_BYTES_LITERAL("h1,1426535612045,0.2\nh2,1426535613045,0.3\n"));
  tide_init_draft_begin(&fixture.draft, fixture.samples, NOW_MS);
  g_assert_false(tide_init_draft_guess_time(&fixture.draft, &fixture.error));
  assert_said(&fixture, TIDE_ERROR_DATA, "'1426535612045' is a time, not the name");
  end(&fixture);
  fixture.samples = read_samples_as(named, tide_bytes_of_string(lines));
  tide_init_draft_begin(&fixture.draft, fixture.samples, NOW_MS);
  g_assert_true(tide_init_draft_set_time(&fixture.draft, "1", NULL));
  end(&fixture);
  /* Columns that are numbered, or named by what is shorter than any time. */
  fixture.samples = read_samples_as(form, TIDE_BYTES_LITERAL("0,1,2026-11\n1795452859,pump 1,1795452860\n"));
  tide_init_draft_begin(&fixture.draft, fixture.samples, NOW_MS);
  g_assert_true(tide_init_draft_set_time(&fixture.draft, "0", NULL));
  g_assert_true(tide_init_draft_set_time(&fixture.draft, "2026-11", NULL));
  end(&fixture);
}

/* Readings of one list are rows of their own, or somebody says that they are not. */
TEST("/draft/each")
{
  static const char text[] =
      "{\"buoy\":\"b\",\"at\":1795452860,\"obs\":[{\"k\":\"wave\",\"v\":1},{\"k\":\"temp\",\"v\":2}]}";
  TideInitForm form = {.format = TIDE_FORMAT_JSON, .each = "obs"};
  Fixture fixture = {.samples = read_samples_as(form, tide_bytes_of_string(text))};
  tide_init_draft_begin(&fixture.draft, fixture.samples, NOW_MS);
  g_assert_true(tide_init_draft_guess_time(&fixture.draft, NULL) && tide_init_draft_guess_key(&fixture.draft, NULL));
  g_autoptr(GPtrArray) none = tide_init_draft_notes(&fixture.draft);
  g_assert_cmpuint(none->len, ==, 0);
  g_assert_true(set_key(&fixture, "buoy"));
  g_autoptr(GPtrArray) notes = tide_init_draft_notes(&fixture.draft);
  g_assert_cmpuint(notes->len, ==, 1);
  g_assert_true(g_str_has_prefix(notes->pdata[0], "2 values would be overwritten"));
  g_assert_nonnull(strstr(notes->pdata[0], "('qualifier'; see JSON in docs/input.md)"));
  end(&fixture);
}

/* The time is the record's, which all readings of a message have. */
TEST("/draft/time-of-the-record")
{
  static const char text[] =
      "[{\"host\":\"h0\",\"core\":\"cpu0\",\"u\":1},{\"host\":\"h0\",\"core\":\"cpu1\",\"u\":2},"
      "{\"host\":\"h0\",\"core\":\"cpu2\",\"u\":3},{\"host\":\"h0\",\"core\":\"cpu3\",\"u\":4}]\n"
      "[{\"host\":\"h0\",\"core\":\"cpu0\",\"u\":1},{\"host\":\"h0\",\"core\":\"cpu1\",\"u\":2}]";
  g_auto(Fixture) fixture = draft_of(text);
  TideInitDraft *draft = &fixture.draft;
  g_assert_true(tide_init_draft_set_time(draft, "$timestamp", NULL) && tide_init_draft_guess_key(draft, NULL));
  g_assert_cmpuint(draft->proposal.key->len, ==, 2);
  g_assert_cmpstr(draft->proposal.key->pdata[0], ==, "host");
  g_assert_cmpstr(draft->proposal.key->pdata[1], ==, "core");
  g_autoptr(GPtrArray) none = tide_init_draft_notes(draft);
  g_assert_cmpuint(none->len, ==, 0);
  g_assert_true(set_key(&fixture, "host"));
  g_autoptr(GPtrArray) notes = tide_init_draft_notes(draft);
  g_assert_cmpuint(notes->len, ==, 1);
  g_assert_nonnull(strstr(notes->pdata[0], "8 values would be overwritten"));
}
