/* From a text of the file to the value that an option stores. Errors are TIDE_ERROR_CONFIG and go on from the option's
 * name: "must be 1..64". */
#pragma once

#include "config/option/option.h"

G_BEGIN_DECLS

/* For all types but lists, sections and structures. The value is untouched on an error. */
gboolean tide_config_option_parse(const TideConfigOption *option, const char *text, const TideConfigTarget *target,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The items of TOPICS, TEXTS, BROKERS and GATEWAYS as they come in. */
typedef struct TideConfigItems {
  GPtrArray *texts;    /* owned (element-type utf8) */
  GPtrArray *gateways; /* owned (element-type TideEndpoint) */
} TideConfigItems;

TideConfigItems tide_config_option_items_new(void);
void tide_config_option_items_clear(TideConfigItems *items);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideConfigItems, tide_config_option_items_clear)

gboolean tide_config_option_add_item(const TideConfigOption *option, TideConfigItems *items, const char *text,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Stores what was added; there must be at least one, but of TEXTS. */
void tide_config_option_store_items(const TideConfigOption *option, TideConfigItems *items, gpointer base);

G_END_DECLS
