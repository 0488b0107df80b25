/* See flock_calls.h. */
#include "flock_calls.h"

#include <dirent.h>
#include <limits.h>
#include <string.h>

const char *flock_calls_advance(const char *version)
{
    return unit_call_run("r", LATCH_VERSION_ADVANCE, TTL, version, "0", NULL);
}

const char *flock_calls_newest(void)
{
    return unit_call_run("r", LATCH_VERSION_GET, NULL);
}

bool flock_calls_fails_with(const char *answer, const char *problem)
{
    bool fails = strncmp(answer, "error ", 6) == 0 && strstr(answer, problem) != NULL;

    if (!fails) {
        print_message("told: %s\n", answer);
    }
    return fails;
}

size_t flock_calls_count_files(const char *begin, const char *end)
{
    DIR *directory = opendir(unit.directory);
    size_t count = 0;

    UNIT_CHECK(directory != NULL);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        size_t length = strlen(entry->d_name);

        count += strncmp(entry->d_name, begin, strlen(begin)) == 0 && length >= strlen(end)
                 && strcmp(entry->d_name + length - strlen(end), end) == 0;
    }
    closedir(directory);
    return count;
}

const char *flock_calls_find_file(const char *begin, const char *end)
{
    static char path[PATH_MAX];
    DIR *directory = opendir(unit.directory);

    path[0] = '\0';
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        size_t length = strlen(entry->d_name);

        if (strncmp(entry->d_name, begin, strlen(begin)) == 0 && length >= strlen(end)
            && strcmp(entry->d_name + length - strlen(end), end) == 0) {
            UNIT_CHECK(path[0] == '\0');
            snprintf(path, sizeof(path), "%s/%s", unit.directory, entry->d_name);
        }
    }
    closedir(directory);
    UNIT_CHECK(path[0] != '\0');
    return path;
}

const char *flock_calls_state_file(void)
{
    return flock_calls_find_file("sl.", ".state");
}

size_t flock_calls_read_file(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "re");
    size_t length;

    UNIT_CHECK(file != NULL);
    length = fread(text, 1, size, file);
    fclose(file);
    UNIT_CHECK(length < size);
    return length;
}

void flock_calls_write_file(const char *path, const char *text, size_t length)
{
    FILE *file = fopen(path, "we");

    UNIT_CHECK(file != NULL && fwrite(text, 1, length, file) == length);
    fclose(file);
}
