/* `tidemark check` and `tidemark run` with the same configurations and surroundings, good and bad: check names whatever
 * stops run; what the check calls fine runs to the end.
 *
 * A run reads to the end of the topic, --until-end, so that it ends by itself when all is well; where it would wait for
 * ever, it is ended at the line of its log that says over what. TIDE_SCENES says how many scenes, TIDE_SEED repeats
 * them. */
#define _GNU_SOURCE
#include "fault/pipeline/pipeline_fixture.h"
#include "fault/program/check_scene.h"
#include "util/clock.h"
#include "util/lock.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534
#define DEFAULT_SCENES 24
#define STRIDE 7 /* through the defects: no divisor of their number, so that a few scenes are of all kinds */
#define SIDE_BY_SIDE 10
#define MAX_DEFECTS 3

static int program_fd = -1;

static guint32
number_of(const char *variable, guint32 otherwise)
{
  const char *text = g_getenv(variable);
  return text != NULL ? (guint32)g_ascii_strtoull(text, NULL, 10) : otherwise;
}

typedef struct Done {
  GString *text; /* owned: what it wrote, standard error among it */
  int exit_code; /* 0: it reached the end, or the check ended so; -1: it was ended at a line that says what it waits
                  * for; -2: it neither ended nor said anything */
} Done;

/* ---- one process ---- */

typedef struct Child {
  pid_t pid;
  int fd; /* what it writes */
} Child;

/* Between fork and exec: only what may be called there. */
static void
become(const CheckScene *scene, int out_fd, int in_fd, char **arguments, char **environment)
{
  dup2(in_fd, STDIN_FILENO);
  dup2(out_fd, STDOUT_FILENO);
  dup2(out_fd, STDERR_FILENO);
  if (chdir(scene->working_directory) != 0)
    _exit(126);
  if (scene->as_nobody && geteuid() == 0 &&
      (setresgid(NOBODY, NOBODY, NOBODY) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0))
    _exit(126);
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* behind what changes the user, which clears it */
  fexecve(program_fd, arguments, environment);
  _exit(127);
}

static Child
start(const CheckScene *scene, const char *words)
{
  int ends[2];
  g_assert_cmpint(pipe2(ends, O_CLOEXEC), ==, 0);
  g_autofree char *path = check_scene_config_path(scene);
  g_autofree char *line = g_strdup_printf("tidemark %s --config %s", words, scene->from_stdin ? "/dev/stdin" : path);
  g_auto(GStrv) arguments = g_strsplit(line, " ", -1);
  g_auto(GStrv) environment = g_environ_unsetenv(g_get_environ(), "CREDENTIALS_DIRECTORY");
  environment = scene->state_directory != NULL
                    ? g_environ_setenv(environment, "STATE_DIRECTORY", scene->state_directory, TRUE)
                    : g_environ_unsetenv(environment, "STATE_DIRECTORY");
  int in_fd = open(scene->from_stdin ? path : "/dev/null", O_RDONLY | O_CLOEXEC);
  g_assert_cmpint(in_fd, >=, 0);
  pid_t pid = fork();
  g_assert_cmpint(pid, >=, 0);
  if (pid == 0)
    become(scene, ends[1], in_fd, arguments, environment);
  close(in_fd);
  close(ends[1]);
  return (Child){pid, ends[0]};
}

static gboolean
says_any(const char *text, const GPtrArray *signs)
{
  for (guint i = 0; i < signs->len; i++)
    if (strstr(text, signs->pdata[i]) != NULL)
      return TRUE;
  return FALSE;
}

/* Warnings and what is worse; and being ready, which some never get beyond. */
static gboolean
is_grave(const char *line)
{
  return strstr(line, " tidemark: ready: ") != NULL || strstr(line, " warning ") != NULL ||
         strstr(line, " error ") != NULL || strstr(line, " crit ") != NULL;
}

typedef enum Sight { GOES_ON, REACHED_THE_END, STANDS_STILL } Sight;

/* What the whole lines from @from on say. */
static Sight
look_at_lines(const GString *text, gsize *from, const GPtrArray *signs)
{
  for (const char *end; (end = strchr(text->str + *from, '\n')) != NULL; *from = (gsize)(end - text->str) + 1) {
    g_autofree char *line = g_strndup(text->str + *from, (gsize)(end - text->str) - *from);
    if (strstr(line, " notice tidemark: reached the end") != NULL)
      return REACHED_THE_END;
    if (is_grave(line) && says_any(line, signs))
      return STANDS_STILL;
  }
  return GOES_ON;
}

/* FALSE at the end of what it writes, or when it is too late. */
static gboolean
read_more(const Child *child, GString *text, gint64 deadline_us, gboolean *ret_ended)
{
  char part[4096];
  struct pollfd wait = {.fd = child->fd, .events = POLLIN};
  gint64 left_ms = (deadline_us - tide_now_us()) / TIDE_US_PER_MS;
  *ret_ended = FALSE;
  if (left_ms <= 0 || poll(&wait, 1, (int)left_ms) <= 0)
    return FALSE;
  gssize n = read(child->fd, part, sizeof part);
  *ret_ended = n <= 0;
  if (n > 0)
    g_string_append_len(text, part, n);
  return n > 0;
}

static Done
run(const CheckScene *scene, const char *words, const GPtrArray *signs)
{
  Done done = {.text = g_string_new(NULL)};
  Child child = start(scene, words);
  gboolean ended = FALSE;
  Sight sight = GOES_ON;
  gsize looked_at = 0;
  /* Far above what a busy machine needs: nobody waits for it when all is well. */
  gint64 deadline_us = tide_now_us() + number_of("TIDE_PATIENCE_MS", 120000) * TIDE_US_PER_MS;
  while (sight == GOES_ON && read_more(&child, done.text, deadline_us, &ended))
    sight = look_at_lines(done.text, &looked_at, signs);
  if (!ended)
    kill(child.pid, SIGKILL);
  int status = 0;
  g_assert_cmpint(waitpid(child.pid, &status, 0), ==, child.pid);
  close(child.fd);
  done.exit_code = sight == REACHED_THE_END ? 0
                   : sight == STANDS_STILL  ? -1
                   : !ended                 ? -2
                   : WIFEXITED(status)      ? WEXITSTATUS(status)
                                            : 128 + WTERMSIG(status);
  return done;
}

/* ---- one scene ---- */

typedef struct Scene {
  guint32 seed;
  const CheckDefect *defects[MAX_DEFECTS];
  guint n_defects;
} Scene;

static TideMutex report_lock = {PTHREAD_MUTEX_INITIALIZER};
static guint n_failures, n_fine, n_stumbled;

static char *
name_of(const Scene *scene)
{
  GString *name = g_string_new(NULL);
  for (guint i = 0; i < scene->n_defects; i++)
    g_string_append_printf(name, "%s%s", i > 0 ? " + " : "", scene->defects[i]->name);
  g_string_append_printf(name, " (seed %u)", scene->seed);
  return g_string_free(name, FALSE);
}

/* What is not as it should be, by what the check printed; but for what is said of the librdkafka that tests run with.
 */
static gboolean
is_fine(const Done *check)
{
  const char *note = strstr(check->text->str, "  note  ");
  while (note != NULL && g_str_has_prefix(note + strspn(note, " note"), "lacks: "))
    note = strstr(note + 1, "  note  ");
  return check->exit_code == 0 && strstr(check->text->str, "PROBLEM") == NULL && note == NULL;
}

/* The complaint about the two; NULL: they agree. */
static const char *
judge(const Scene *scene, const Done *check, const Done *ran)
{
  if (ran->exit_code == -2 || check->exit_code < 0)
    return "it neither ended nor said what it waits for";
  if (ran->exit_code >= 128 || check->exit_code >= 126)
    return "it crashed";
  if (ran->exit_code != 0 && is_fine(check))
    return "the run stumbled over what the check called fine";
  if (scene->n_defects == 1 && scene->defects[0]->named != NULL &&
      strstr(check->text->str, scene->defects[0]->named) == NULL)
    return "the check did not name what is wrong";
  if (scene->n_defects == 1 && scene->defects[0]->named == NULL && (!is_fine(check) || ran->exit_code != 0))
    return "nothing is wrong, and one of the two stumbled";
  if ((check->exit_code == 78) != (ran->exit_code == 78) && strstr(check->text->str, "THE KEY CHANGED") == NULL)
    return "one called it a wrong configuration, the other did not";
  return NULL;
}

static void
report(const Scene *scene, const char *yaml, const Done *check, const Done *ran)
{
  const char *complaint = judge(scene, check, ran);
  g_autofree char *name = name_of(scene);
  tide_mutex_lock(&report_lock);
  n_fine += is_fine(check) ? 1 : 0;
  n_stumbled += ran->exit_code != 0 ? 1 : 0;
  if (g_getenv("TIDE_TEST_VERBOSE") != NULL)
    g_printerr("%s: check %d%s, run %d\n", name, check->exit_code, is_fine(check) ? " fine" : "", ran->exit_code);
  if (complaint != NULL) {
    n_failures++;
    g_printerr("%s: %s\n%s--- check ends with %d:\n%s--- run ends with %d:\n%s\n", name, complaint, yaml,
               check->exit_code, check->text->str, ran->exit_code, ran->text->str);
  }
  tide_mutex_unlock(&report_lock);
}

static void
play(gpointer data, gpointer unused)
{
  g_autofree Scene *scene = data;
  g_autoptr(GPtrArray) none = g_ptr_array_new();
  g_autoptr(GPtrArray) signs = g_ptr_array_new();
  CheckScene *checked = check_scene_new(scene->seed);
  for (guint i = 0; i < scene->n_defects; i++) {
    check_scene_apply(checked, scene->defects[i]);
    if (scene->defects[i]->stands != NULL)
      g_ptr_array_add(signs, (gpointer)scene->defects[i]->stands);
  }
  g_autofree char *yaml = check_scene_write(checked);
  Done check = run(checked, "check", none);
  Done ran = run(checked, "run --until-end", signs);
  report(scene, yaml, &check, &ran);
  g_string_free(check.text, TRUE);
  g_string_free(ran.text, TRUE);
  check_scene_free(checked);
}

/* ---- many ---- */

/* Each defect by itself, from a place on that the seed gives; then several at a time. */
static Scene *
draw(guint index, guint32 seed)
{
  guint n_all;
  const CheckDefect *all = check_scene_defects(&n_all);
  g_assert_cmpuint(n_all % STRIDE, !=, 0);
  Scene *scene = g_new0(Scene, 1);
  scene->seed = seed + index;
  scene->n_defects = index < n_all ? 1 : 2 + index % (MAX_DEFECTS - 1);
  g_autoptr(GRand) random = g_rand_new_with_seed(scene->seed);
  for (guint i = 0; i < scene->n_defects; i++)
    scene->defects[i] =
        index < n_all ? &all[(seed + index * STRIDE) % n_all] : &all[g_rand_int_range(random, 0, (gint32)n_all)];
  return scene;
}

/* Whether its topic or that of its dead letters is denied. */
static gboolean
denies_a_topic(const Scene *scene)
{
  for (guint i = 0; i < scene->n_defects; i++)
    if (g_str_has_suffix(scene->defects[i]->name, "topic-that-is-denied"))
      return TRUE;
  return FALSE;
}

TEST("/check-and-run/agree")
{
  guint n_scenes = number_of("TIDE_SCENES", DEFAULT_SCENES);
  guint32 seed = number_of("TIDE_SEED", (guint32)g_test_rand_int());
  gint64 start_us = tide_now_us();
  GThreadPool *pool = g_thread_pool_new(play, NULL, SIDE_BY_SIDE, TRUE, NULL);
  for (guint i = 0; i < n_scenes; i++) {
    g_autofree Scene *scene = draw(i, seed);
    if (mock_kafka_can_deny_topics() || !denies_a_topic(scene))
      g_thread_pool_push(pool, g_steal_pointer(&scene), NULL);
    else
      g_test_message("left out: %s", MOCK_KAFKA_DENIED_TOPIC_CRASHES);
  }
  g_thread_pool_free(pool, FALSE, TRUE);
  g_test_message("%u scenes from TIDE_SEED=%u in %" G_GINT64_FORMAT " ms: %u fine, %u runs stumbled, %u disagreements",
                 n_scenes, seed, (tide_now_us() - start_us) / TIDE_US_PER_MS, n_fine, n_stumbled, n_failures);
  if (n_failures > 0)
    g_error("%u of %u scenes disagree, again with TIDE_SEED=%u TIDE_SCENES=%u", n_failures, n_scenes, seed, n_scenes);
}

int
main(int argc, char **argv)
{
  pipeline_fixture_init(&argc, &argv);
  program_fd = open(g_getenv("TIDEMARK"), O_RDONLY | O_CLOEXEC);
  g_assert_cmpint(program_fd, >=, 0);
  test_cases_add();
  return g_test_run();
}
