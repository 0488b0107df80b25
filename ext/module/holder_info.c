/*
 * Holder information: the text that stores keep with a lock, for inspect() and listHeld(): host
 * name, process ID, and the script or latch.holder_name. Made once in a request.
 */
#include "ext/module/module.h"

#include "SAPI.h"
#include "php_ini.h"

#include <unistd.h>

#define NAME_MAX_LENGTH 200
#define HOST_MAX_LENGTH 64

/* Replaces control characters, and blanks that would separate fields, by "?". */
static void clean_text(char *text, bool blanks_too)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char) *text < ' ' || *text == '\177' || (blanks_too && *text == ' ')) {
            *text = '?';
        }
    }
}

static void read_host_name(char host[HOST_MAX_LENGTH + 1])
{
    if (gethostname(host, HOST_MAX_LENGTH + 1) != 0 || host[0] == '\0') {
        strcpy(host, "?");
    }
    host[HOST_MAX_LENGTH] = '\0';
    clean_text(host, true);
}

/* The absolute path of a script that the command line has named relatively. */
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

/* Shortens a long path to its end. */
static const char *cut_path(const char *name)
{
    size_t length = strlen(name);
    const char *from = length > NAME_MAX_LENGTH ? name + length - NAME_MAX_LENGTH : name;

    while (from > name && ((unsigned char) *from & 0xc0) == 0x80) {
        from++; /* the rest of a character in UTF-8 */
    }
    return from;
}

static void make_holder_info(void)
{
    char host[HOST_MAX_LENGTH + 1], name[NAME_MAX_LENGTH + 1];

    read_host_name(host);
    snprintf(name, sizeof(name), "%s", cut_path(find_name()));
    clean_text(name, false);
    snprintf(LATCH_G(holder_info), sizeof(LATCH_G(holder_info)), "%s %ld %s", host, (long) getpid(),
             name);
    LATCH_G(holder_info_generation) = latch_engine_generation(php_latch_engine);
}

const char *php_latch_holder_info(void *context)
{
    (void) context;
    if (!LATCH_G(holder_note)) {
        return NULL;
    }
    if (LATCH_G(holder_info)[0] == '\0'
        || LATCH_G(holder_info_generation) != latch_engine_generation(php_latch_engine)) {
        make_holder_info(); /* a forked child is another process */
    }
    return LATCH_G(holder_info);
}

ZEND_INI_MH(php_latch_update_holder_name)
{
    LATCH_G(holder_info)[0] = '\0';
    return SUCCESS;
}
