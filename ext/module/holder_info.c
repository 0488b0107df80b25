/*
 * What this process leaves behind with a lock, for those who ask who holds it: the host's name, the
 * process, and the script, or what latch.holder_name says in its place. Made once in a request.
 */
#include "ext/php_latch.h"

#include "SAPI.h"
#include "php_ini.h"

#include <unistd.h>

#define NAME_MAX_LENGTH 200
#define HOST_MAX_LENGTH 64

/* As plain text: what a terminal could take for something else, and what parts a note, is "?". */
static void clean(char *text, bool blanks_too)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char) *text < ' ' || *text == '\177' || (blanks_too && *text == ' ')) {
            *text = '?';
        }
    }
}

static void read_host(char host[HOST_MAX_LENGTH + 1])
{
    if (gethostname(host, HOST_MAX_LENGTH + 1) != 0 || host[0] == '\0') {
        strcpy(host, "?");
    }
    host[HOST_MAX_LENGTH] = '\0';
    clean(host, true);
}

/* The whole path of a script that the command line has named from where it stood. */
static const char *find_main_script(void)
{
    zend_string *path;

    ZEND_HASH_FOREACH_STR_KEY(&EG(included_files), path)
    {
        return path != NULL ? ZSTR_VAL(path) : NULL;
    }
    ZEND_HASH_FOREACH_END();
    return NULL;
}

static const char *find_name(void)
{
    const char *name = zend_ini_string("latch.holder_name", sizeof("latch.holder_name") - 1, 0);
    const char *script = SG(request_info).path_translated;
    const char *found;

    if (name != NULL && name[0] != '\0') {
        return name;
    }
    if (script == NULL || script[0] == '\0' || strcmp(script, "-") == 0) {
        return sapi_module.name; /* php -r, or a script from its input */
    }
    found = script[0] != '/' ? find_main_script() : NULL;
    return found != NULL ? found : script;
}

/* Its end tells more than its beginning. */
static const char *cut(const char *name)
{
    size_t length = strlen(name);
    const char *from = length > NAME_MAX_LENGTH ? name + length - NAME_MAX_LENGTH : name;

    while (from > name && ((unsigned char) *from & 0xc0) == 0x80) {
        from++; /* the rest of a character in UTF-8 */
    }
    return from;
}

static void make_note(void)
{
    char host[HOST_MAX_LENGTH + 1], name[NAME_MAX_LENGTH + 1];

    read_host(host);
    snprintf(name, sizeof(name), "%s", cut(find_name()));
    clean(name, false);
    snprintf(LATCH_G(note), sizeof(LATCH_G(note)), "%s %ld %s", host, (long) getpid(), name);
    LATCH_G(note_generation) = latch_engine_generation(php_latch_engine);
}

const char *php_latch_note(void *context)
{
    (void) context;
    if (!LATCH_G(holder_note)) {
        return NULL;
    }
    if (LATCH_G(note)[0] == '\0'
        || LATCH_G(note_generation) != latch_engine_generation(php_latch_engine)) {
        make_note(); /* a forked child is another process */
    }
    return LATCH_G(note);
}

ZEND_INI_MH(php_latch_update_holder_name)
{
    LATCH_G(note)[0] = '\0';
    return SUCCESS;
}
