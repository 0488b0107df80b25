/* Calls of versions in files, and a look at the files. */
#ifndef FLOCK_CALLS_H
#define FLOCK_CALLS_H

#include "calls.h"

/* TTL of records, in ms, where it does not matter. */
#define TTL "60000"
#define TELLS(expected, answer) assert_string_equal(answer, expected)

/* Calls about the version "r" in unit.store; answers as those of unit_call_run(). */
const char *flock_calls_advance(const char *version);
const char *flock_calls_newest(void);

/* Whether the answer is an error that names this problem; shows it if not. */
bool flock_calls_fails_with(const char *answer, const char *problem);

/* Number of files in unit.directory whose names begin and end so. */
size_t flock_calls_count_files(const char *begin, const char *end);
/* Path of the one file whose name begins and ends so; valid until the next call. */
const char *flock_calls_find_file(const char *begin, const char *end);
/* Path of the one record. */
const char *flock_calls_state_file(void);

/* Reads a whole file, which is shorter than `size`; its length. */
size_t flock_calls_read_file(const char *path, char *text, size_t size);
/* Replaces what is in the file. */
void flock_calls_write_file(const char *path, const char *text, size_t length);

#endif
