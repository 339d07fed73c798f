/* How often a random test turns: `n` times, and a tenth of that under sanitizers, where a turn costs several times as much
 * and the build without them has made all turns. A fortieth of what turns for each of a hundred schemes: what a sanitizer
 * sees, it sees in the first thousands. */
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ROUNDS(n) ((n) / 10)
#define ROUNDS_OF_EACH_SCHEME(n) ((n) / 40)
#else
#define ROUNDS(n) (n)
#define ROUNDS_OF_EACH_SCHEME(n) (n)
#endif
