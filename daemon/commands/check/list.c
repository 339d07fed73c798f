#include "commands/check/list.h"

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
  static const char *const words[] = {"unknown", "ok", "note", "PROBLEM", "PROBLEM"};
  list->worst = MAX(list->worst, state);
  (void)tide_listing_add(list->listing, (const char *[]){what, name, words[state], detail});
}

void
tide_check_list_add_unseen(TideCheckList *list, const char *what, const char *name, const char *why)
{
  g_autofree char *detail = g_strdup_printf("not looked at: %s", why);
  tide_check_list_add(list, what, name, TIDE_CHECK_UNSEEN, detail);
}

void
tide_check_list_finish(TideCheckList *list)
{
  (void)tide_listing_finish(list->listing);
  g_clear_pointer(&list->listing, tide_listing_free);
}
