/* How often a random test turns: `n` times, and a tenth of that under sanitizers, where a turn costs several times as much
 * and the build without them has made all turns. */
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ROUNDS(n) ((n) / 10)
#else
#define ROUNDS(n) (n)
#endif
