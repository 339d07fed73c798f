/* A test has its name where it begins, and needs no other registration:
 *
 * TEST("/glob/backslash") { g_assert_true(...); }
 *
 * Tests run in the order of their lines. A program with a main() of its own calls test_cases_add() between
 * g_test_init() and g_test_run(). All others use the main() of test_case.c, which calls test_program_begin() in
 * between; a rig can define it. */
#pragma once

#include <glib.h>

typedef struct TestCase TestCase;
struct TestCase {
  void (*add)(void); /* registers it with GLib */
  int line;
  TestCase *next;
};

void test_case_list(TestCase *test_case);
void test_cases_add(void);
void test_program_begin(void);
void test_case_add_each(const char *prefix, gconstpointer rows, gsize row_bytes, gsize n_rows, GTestDataFunc test);

#define TEST(path_) TEST_AT(path_, __LINE__)
#define TEST_AT(path_, line_) TEST_ON_LINE(path_, line_)
#define TEST_ON_LINE(path_, line_) TEST_CASE(line_, (void), g_test_add_func(path_, test_on_line_##line_))

/* A test with a `fixture`, and the functions that create and clear it. A program with several such tests defines a
 * macro for them. */
#define TEST_WITH(Fixture_, set_up_, tear_down_, path_) TEST_OF(Fixture_, NULL, set_up_, tear_down_, path_)

/* The same with `data` for the test and for the function that creates its fixture. */
#define TEST_OF(Fixture_, data_, set_up_, tear_down_, path_)                                                           \
  TEST_OF_AT(Fixture_, data_, set_up_, tear_down_, path_, __LINE__)
#define TEST_OF_AT(Fixture_, data_, set_up_, tear_down_, path_, line_)                                                 \
  TEST_OF_ON_LINE(Fixture_, data_, set_up_, tear_down_, path_, line_)
#define TEST_OF_ON_LINE(Fixture_, data_, set_up_, tear_down_, path_, line_)                                            \
  TEST_CASE(line_, (Fixture_ * fixture, gconstpointer data),                                                           \
            g_test_add(path_, Fixture_, data_, set_up_, test_on_line_##line_, tear_down_))

/* A test for each row of a table, which is its `data`. A row begins with its name, the rest of the test's path. The
 * second macro also has a `fixture`. */
#define TEST_EACH(prefix_, rows_) TEST_EACH_AT(prefix_, rows_, __LINE__)
#define TEST_EACH_AT(prefix_, rows_, line_) TEST_EACH_ON_LINE(prefix_, rows_, line_)
#define TEST_EACH_ON_LINE(prefix_, rows_, line_)                                                                       \
  TEST_CASE(line_, (gconstpointer data),                                                                               \
            test_case_add_each(prefix_, rows_, sizeof(rows_)[0], G_N_ELEMENTS(rows_), test_on_line_##line_))

#define TEST_EACH_WITH(Fixture_, set_up_, tear_down_, prefix_, rows_)                                                  \
  TEST_EACH_WITH_AT(Fixture_, set_up_, tear_down_, prefix_, rows_, __LINE__)
#define TEST_EACH_WITH_AT(Fixture_, set_up_, tear_down_, prefix_, rows_, line_)                                        \
  TEST_EACH_WITH_ON_LINE(Fixture_, set_up_, tear_down_, prefix_, rows_, line_)
#define TEST_EACH_WITH_ON_LINE(Fixture_, set_up_, tear_down_, prefix_, rows_, line_)                                   \
  TEST_CASE(                                                                                                           \
      line_, (Fixture_ * fixture, gconstpointer data), for (gsize i = 0; i < G_N_ELEMENTS(rows_); i++) {               \
        const char *const *name = (gconstpointer)((rows_) + i);                                                        \
        g_autofree char *path = g_strconcat(prefix_, *name, NULL);                                                     \
        g_test_add(path, Fixture_, name, set_up_, test_on_line_##line_, tear_down_);                                   \
      })

#define TEST_CASE(line_, parameters_, add_)                                                                            \
  static void test_on_line_##line_ parameters_;                                                                        \
  static void add_test_on_line_##line_(void)                                                                           \
  {                                                                                                                    \
    add_;                                                                                                              \
  }                                                                                                                    \
  static void __attribute__((constructor)) list_test_on_line_##line_(void)                                             \
  {                                                                                                                    \
    static TestCase test_case = {add_test_on_line_##line_, line_, NULL};                                               \
    test_case_list(&test_case);                                                                                        \
  }                                                                                                                    \
  static void test_on_line_##line_ parameters_
