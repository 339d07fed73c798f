#include "commands/check/list.h"

#include "util/error.h"

static const struct {
  const char *word;
  TideExit exit;
} states[] = {
    [TIDE_CHECK_UNSEEN] = {"unknown", TIDE_EXIT_OK},
    [TIDE_CHECK_OK] = {"ok", TIDE_EXIT_OK},
    [TIDE_CHECK_NOTE] = {"note", TIDE_EXIT_OK},
    [TIDE_CHECK_PROBLEM] = {"PROBLEM", TIDE_EXIT_FINDINGS},
    [TIDE_CHECK_UNAVAILABLE] = {"PROBLEM", TIDE_EXIT_UNAVAILABLE},
};
G_STATIC_ASSERT(G_N_ELEMENTS(states) == TIDE_CHECK_N_STATES);

void
tide_check_list_init(TideCheckList *list)
{
  static const TideListingColumn columns[] = {
      {.name = "WHAT", .once = TRUE}, {.name = "NAME"}, {.name = "STATE", .judges = TRUE}, {.name = "DETAIL"}};
  *list = (TideCheckList){.listing = tide_listing_new(stdout, TIDE_OUTPUT_TABLE, tide_colour_wanted(stdout), columns,
                                                      G_N_ELEMENTS(columns))};
}

void
tide_check_list_add(TideCheckList *list, const char *what, const char *name, TideCheckState state, const char *detail)
{
  list->worst = MAX(list->worst, state);
  (void)tide_listing_add(list->listing, (const char *[]){what, name, states[state].word, detail});
}

void
tide_check_list_add_unseen(TideCheckList *list, const char *what, const char *name, const char *why)
{
  g_autofree char *detail = g_strdup_printf("not checked: %s", why);
  tide_check_list_add(list, what, name, TIDE_CHECK_UNSEEN, detail);
}

int
tide_check_list_finish(TideCheckList *list)
{
  (void)tide_listing_finish(list->listing);
  g_clear_pointer(&list->listing, tide_listing_free);
  return (int)states[list->worst].exit;
}
