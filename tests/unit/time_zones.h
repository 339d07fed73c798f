/* Zones for the tests of what cuts and prints times: those whose clocks do what is hard to do right. */
#pragma once

#include <glib.h>

static const char *const time_zone_names[] = {
    "UTC",
    "Europe/Berlin",
    "America/Los_Angeles",
    "America/Sao_Paulo",   /* midnight was skipped, and shown twice, until 2019 */
    "Asia/Beirut",         /* midnight is skipped */
    "America/Havana",      /* midnight is shown twice */
    "Atlantic/Azores",     /* so too */
    "America/St_Johns",    /* until 2011 set back at 00:01, so that the day before came again; half an hour off */
    "Australia/Lord_Howe", /* set by half an hour */
    "Asia/Kathmandu",      /* 5:45 */
    "Pacific/Chatham",     /* 12:45 and 13:45 */
    "Pacific/Apia",        /* skipped 2011-12-30 */
    "Antarctica/Casey",    /* set back by 3 hours in 2010 */
    "Antarctica/Troll",    /* set by 2 hours */
    "Africa/Casablanca",   /* set back for Ramadan */
    "Africa/Monrovia",     /* 44 minutes and 30 seconds off until 1972 */
    "Asia/Pyongyang",      /* set back by half an hour in 2015 */
    "Pacific/Kiritimati",  /* +14 */
    "Pacific/Pago_Pago",   /* -11 */
};

#define N_TIME_ZONES G_N_ELEMENTS(time_zone_names)

static inline GTimeZone *
time_zone_of(const char *name)
{
  GTimeZone *zone = g_time_zone_new_identifier(name);
  g_assert_nonnull(zone);
  return zone;
}

/* A moment from 1970 to 2199. */
static inline gint64
random_moment_ns(void)
{
  gint64 second = ((gint64)g_test_rand_int() & G_MAXUINT32) % G_GINT64_CONSTANT(7258118400);
  if (g_test_rand_bit())
    second = second * 5 % G_GINT64_CONSTANT(7258118400); /* beyond 2106, too */
  return second * G_GINT64_CONSTANT(1000000000) + g_test_rand_int_range(0, 1000000000);
}
