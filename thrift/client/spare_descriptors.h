/* Asks whether file descriptors are left before GLib needs some. GLib ends the process when it finds none for a
 * cancellable's wake-up, so whoever makes one asks here first. Between the answer and the use another thread may take
 * what was left: the check asks for more than is needed, and an end there costs repeated work, no data. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* FALSE: the process or the machine has too few descriptors left for one more connection. Errors: CONNECT. Threads:
 * any. */
gboolean tide_spare_descriptors_check(GError **error);

G_END_DECLS
