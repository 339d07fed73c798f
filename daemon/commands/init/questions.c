/* The questions at a terminal, each with a proposed answer. */
#include "commands/init/draft.h"

#include "commands/cli/output.h"
#include "util/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Stores @answer; FALSE with the error set: the error is printed, and the question repeated. */
typedef gboolean (*AnswerFunc)(const char *answer, gpointer data, GError **error);

gboolean
tide_init_can_ask(void)
{
  return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

/* Reads one line. (transfer full); NULL at the end. */
static char *
read_answer(const char *question, const char *proposed)
{
  char *line = NULL;
  size_t capacity = 0;
  if (proposed != NULL)
    tide_ask("%s [%s]: ", question, proposed);
  else
    tide_ask("%s: ", question);
  char *answer = getline(&line, &capacity, stdin) >= 0 ? g_strdup(g_strstrip(line)) : NULL;
  free(line);
  return answer;
}

/* Asks "@question [@proposed]: " until @func accepts the answer; an empty answer means the proposal. @proposed: NULL:
 * there is none. Errors: CANCELLED when the input ends. */
static gboolean
ask(const char *question, const char *proposed, AnswerFunc func, gpointer data, GError **error)
{
  for (;;) {
    g_autoptr(GError) refused = NULL;
    g_autofree char *answer = read_answer(question, proposed);
    if (answer == NULL) {
      g_set_error_literal(error, TIDE_ERROR, TIDE_ERROR_CANCELLED, "ended at a question: nothing is written");
      return FALSE;
    }
    const char *taken = answer[0] != '\0' ? answer : proposed;
    if (taken != NULL && func(taken, data, &refused))
      return TRUE;
    tide_say("  %s", refused != NULL ? refused->message : "an answer is needed");
  }
}

/* ---- the questions ------------------------------------------------------------------------------------------------
 */

static gboolean
answer_time(const char *answer, gpointer data, GError **error)
{
  return tide_init_draft_set_time(data, answer, error);
}

static gboolean
answer_zone(const char *answer, gpointer data, GError **error)
{
  return tide_init_draft_set_zone(data, answer, error);
}

static gboolean
answer_key(const char *answer, gpointer data, GError **error)
{
  g_auto(GStrv) names = g_strsplit(answer, ",", -1);
  g_autoptr(GPtrArray) trimmed = g_ptr_array_new();
  for (guint i = 0; names[i] != NULL; i++)
    g_ptr_array_add(trimmed, g_strstrip(names[i]));
  return tide_init_draft_set_key(data, trimmed, error);
}

static gboolean
answer_text(const char *answer, gpointer data, GError **error)
{
  char **place = data;
  char *copy = g_strdup(answer); /* @answer may be the old value */
  g_free(*place);
  *place = copy;
  return TRUE;
}

static gboolean
answer_dead_letters(const char *answer, gpointer data, GError **error)
{
  return strcmp(answer, "file") == 0 || answer_text(answer, data, error);
}

static char *
joined_key(const TideInitDraft *draft)
{
  GString *names = g_string_new(NULL);
  for (guint i = 0; i < draft->proposal.key->len; i++)
    g_string_append_printf(names, "%s%s", i > 0 ? "," : "", (const char *)draft->proposal.key->pdata[i]);
  return g_string_free(names, FALSE);
}

static gboolean
ask_of_samples(TideInitDraft *draft, const TideInitGiven *given, GError **error)
{
  g_autofree char *time = g_strdup(draft->proposal.time_field);
  if (!given->time &&
      !ask("Field of the time, or $timestamp for the record's own time", time, answer_time, draft, error))
    return FALSE;
  if (draft->needs_zone && draft->proposal.zone == NULL &&
      !ask("It has no offset from UTC. Its time zone", NULL, answer_zone, draft, error))
    return FALSE;
  if (given->key)
    return TRUE;
  g_autofree char *key = tide_init_draft_guess_key(draft, NULL) ? joined_key(draft) : NULL;
  g_autofree char *remedy = NULL;
  g_autofree char *doubt = key != NULL ? tide_init_draft_doubt_of_key(draft, &remedy) : NULL;
  if (doubt != NULL)
    tide_say("  %s", doubt);
  return ask("Fields of the row key in order, separated by commas", key, answer_key, draft, error);
}

static gboolean
ask_of_places(TideInitProposal *proposal, const TideInitGiven *given, GError **error)
{
  const struct {
    gboolean is_given;
    const char *question;
    char **place;
  } questions[] = {
      {given->table, "History table; the latest table is CURRENT_ plus this name", &proposal->table},
      {given->brokers, "Kafka brokers", &proposal->brokers},
      {given->topic, "Topic", &proposal->topic},
      {given->gateways, "HBase Thrift gateways", &proposal->gateways},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(questions); i++) {
    if (!questions[i].is_given &&
        !ask(questions[i].question, *questions[i].place, answer_text, questions[i].place, error))
      return FALSE;
  }
  return given->dead_letters ||
         ask("Topic for dead letters, or 'file'", "file", answer_dead_letters, &proposal->dead_letters, error);
}

gboolean
tide_init_ask_all(TideInitDraft *draft, const TideInitGiven *given, GError **error)
{
  return ask_of_samples(draft, given, error) && ask_of_places(&draft->proposal, given, error);
}
