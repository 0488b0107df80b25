/* DSN parser: from left to right, decoding each part into one buffer. */
#include "src/base/dsn.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#define PORT_MAX 65535
/* The longest name of an unknown option that is shown. */
#define SHOWN_MAX 64

#define HOST_ADVICE                                                                                \
    "the host is a name or an address, an IPv6 address in brackets, as in \"[::1]:6379\""

/* Parser: the text, and the parts found so far. */
typedef struct dsn_reader {
    const char *at, *end; /* what is left of the text */
    latch_dsn *dsn;
    latch_dsn_option *option; /* the next free one */
    char *out;                /* the free part of the buffer */
    latch_error *error;
} dsn_reader;

static latch_status dsn_fail(latch_error *error, const char *what)
{
    return latch_fail(error, LATCH_ERROR_ARGUMENT, 0, "invalid DSN: %s", what);
}

/* ---- Characters. Not those of <ctype.h>, which depend on the locale. */

static bool is_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_control(char byte)
{
    return (unsigned char) byte < 0x20 || byte == 0x7f;
}

/* -1 when it is no hexadecimal digit. */
static int value_of_hex(char byte)
{
    if (is_digit(byte)) {
        return byte - '0';
    }
    if (byte >= 'a' && byte <= 'f') {
        return byte - 'a' + 10;
    }
    return byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1;
}

/* The first of these bytes from `at` on, or `end`. */
static const char *find_any(const char *at, const char *end, const char *bytes)
{
    while (at < end && strchr(bytes, *at) == NULL) {
        at++;
    }
    return at;
}

/* ---- Parts */

/* Adds a decoded part to the buffer. It takes no more room there than it has in the text, and a
 * NUL. */
static latch_status decode(dsn_reader *reader, const char *from, const char *to, bool plus_is_space,
                           const char **part)
{
    char *out = reader->out;

    *part = out;
    for (; from < to; from++) {
        int high, low;

        if (*from != '%') {
            *out++ = (char) (plus_is_space && *from == '+' ? ' ' : *from);
            continue;
        }
        high = to - from > 2 ? value_of_hex(from[1]) : -1;
        low = high >= 0 ? value_of_hex(from[2]) : -1;
        if (low < 0) {
            return dsn_fail(reader->error, "a \"%\" is followed by two hexadecimal digits, and is "
                                           "itself written as \"%25\"");
        }
        *out = (char) (high << 4 | low);
        if (*out++ == '\0') {
            return dsn_fail(reader->error,
                            "it must not contain a NUL byte, encoded as \"%00\" either");
        }
        from += 2;
    }
    *out++ = '\0';
    reader->out = out;
    return LATCH_DONE;
}

static latch_status read_scheme(dsn_reader *reader)
{
    const char *from = reader->at;

    if (from < reader->end && is_letter(*from)) {
        while (reader->at < reader->end
               && (is_letter(*reader->at) || is_digit(*reader->at)
                   || strchr("+-.", *reader->at) != NULL)) {
            reader->at++;
        }
        if (reader->at < reader->end && *reader->at == ':') {
            return decode(reader, from, reader->at++, false, &reader->dsn->scheme);
        }
    }
    return dsn_fail(reader->error,
                    "it begins with a scheme and a colon, as in \"scheme://host:port\"");
}

/* Symfony's rule: all before the first "@" is user and password. */
static latch_status read_credentials(dsn_reader *reader)
{
    const char *from = reader->at;
    const char *to = memchr(from, '@', (size_t) (reader->end - from));
    const char *colon = to != NULL ? memchr(from, ':', (size_t) (to - from)) : NULL;

    if (to == NULL) {
        return LATCH_DONE;
    }
    if (colon != NULL) {
        latch_status status = decode(reader, from, colon, false, &reader->dsn->user);

        if (status != LATCH_DONE) {
            return status;
        }
        from = colon + 1;
    }
    reader->at = to + 1;
    return decode(reader, from, to, false, &reader->dsn->password);
}

/* The rest has no credentials, or some in the wrong form. */
static latch_status check_rest(const dsn_reader *reader)
{
    for (const char *at = reader->at; at < reader->end; at++) {
        if (*at == '@') {
            return dsn_fail(reader->error,
                            "only one \"@\" may stand in it, after user and password; "
                            "any other is written as \"%40\"");
        }
        if (*at == '#') {
            return dsn_fail(reader->error, "a \"#\" is written as \"%23\" outside the password");
        }
        if (is_control(*at)) {
            return dsn_fail(reader->error,
                            "a control character, such as a line break, is written as "
                            "\"%0A\" and the like outside the password");
        }
    }
    return LATCH_DONE;
}

/* ---- What may be shown */

bool latch_dsn_may_show(const char *name, const char *value)
{
    size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                 "_-.[]");

    return length > 0 && length <= SHOWN_MAX && name[length] == '\0'
           && value[strspn(value, "=")] != '\0';
}

bool latch_dsn_is_path(const char *value)
{
    return strstr(value, "-----BEGIN") == NULL;
}

/* ---- Host and port */

bool latch_dsn_is_address(const char *host, size_t length)
{
    const char *zone = memchr(host, '%', length);
    size_t digits = zone != NULL ? (size_t) (zone - host) : length;
    char address[INET6_ADDRSTRLEN];
    struct in6_addr parsed; /* the longer one */

    if (digits >= sizeof(address)) {
        return false;
    }
    memcpy(address, host, digits);
    address[digits] = '\0';
    return inet_pton(AF_INET6, address, &parsed) == 1
           || (zone == NULL && inet_pton(AF_INET, address, &parsed) == 1);
}

static latch_status check_host(const char *host, size_t length, bool bracketed, latch_error *error)
{
    if (length == 0) {
        return dsn_fail(error, "there is no host before the port");
    }
    if (bracketed && memchr(host, ':', length) == NULL) {
        return dsn_fail(error, "only an IPv6 address stands in brackets, as in \"[::1]:6379\"");
    }
    for (size_t at = 0; at < length; at++) {
        /* The resolver checks names beyond ASCII. */
        if (!is_letter(host[at]) && !is_digit(host[at]) && !(host[at] & 0x80)
            && strchr("-._~:%", host[at]) == NULL) {
            return dsn_fail(error, HOST_ADVICE);
        }
    }
    /* Errors of the connection show the host: "user:password" must not become one. A colon at its
       end is of an address without brackets, which the caller refuses. */
    if (memchr(host, ':', length) != NULL && (bracketed || host[length - 1] != ':')
        && !latch_dsn_is_address(host, length)) {
        return dsn_fail(error, HOST_ADVICE);
    }
    return LATCH_DONE;
}

static latch_status read_port(const char *digits, size_t length, int *port, latch_error *error)
{
    *port = 0;
    if (length == 0) {
        return LATCH_DONE; /* "host:" is "host", as in RFC 3986 and for Symfony */
    }
    while (length > 0 && is_digit(*digits) && *port <= PORT_MAX) {
        *port = *port * 10 + (*digits++ - '0');
        length--;
    }
    return length == 0 && *port >= 1 && *port <= PORT_MAX
               ? LATCH_DONE
               : dsn_fail(error, "the port is a number from 1 to 65535; an IPv6 address stands in "
                                 "brackets, as in \"[::1]:6379\"");
}

latch_status latch_dsn_split_host(const char *text, size_t length, const char **host,
                                  size_t *host_length, int *port, latch_error *error)
{
    bool bracketed = length > 0 && *text == '[';
    const char *end = text + length;
    const char *to = bracketed ? memchr(text, ']', length) : memrchr(text, ':', length);
    latch_status status;

    if (bracketed && to == NULL) {
        return dsn_fail(error, "a \"[\" of the host is not closed");
    }
    *host = bracketed ? text + 1 : text;
    to = to != NULL ? to : end;
    *host_length = (size_t) (to - *host);
    status = check_host(*host, *host_length, bracketed, error);
    if (status != LATCH_DONE) {
        return status;
    }
    to += bracketed;
    if (to < end && *to != ':') {
        return dsn_fail(error,
                        "after the \"]\" of the host comes a colon with the port, if anything");
    }
    to += to < end;
    return read_port(to, (size_t) (end - to), port, error);
}

static latch_status read_host(dsn_reader *reader)
{
    latch_dsn *dsn = reader->dsn;
    const char *to = find_any(reader->at, reader->end, "/?");
    const char *part;
    size_t length;
    latch_status status;

    if (to == reader->at) {
        return LATCH_DONE;
    }
    status = decode(reader, reader->at, to, false, &part);
    if (status == LATCH_DONE) {
        status = latch_dsn_split_host(part, strlen(part), &dsn->host, &length, &dsn->port,
                                      reader->error);
    }
    if (status != LATCH_DONE) {
        return status;
    }
    if (*part != '[' && memchr(dsn->host, ':', length) != NULL) {
        return dsn_fail(reader->error, "an IPv6 address stands in brackets, as in \"[::1]:6379\"");
    }
    ((char *) dsn->host)[length] = '\0';
    reader->at = to;
    return LATCH_DONE;
}

/* ---- Options */

/* "name", or "name[...]", where every bracket has its fellow. */
static latch_status check_name(const char *name, latch_error *error)
{
    const char *bracket = strchr(name, '[');
    size_t open = 0;

    if (*name == '\0' || bracket == name) {
        return dsn_fail(error, "an option has no name");
    }
    for (const char *at = bracket; at != NULL && *at != '\0'; at++) {
        open += *at == '[';
        open -= *at == ']';
        if (open == 0 && at[1] != '\0' && at[1] != '[') {
            return dsn_fail(error, "after the \"]\" of an option's name comes \"=\" or \"&\"");
        }
    }
    return open == 0 ? LATCH_DONE : dsn_fail(error, "a \"[\" of an option's name is not closed");
}

static latch_status read_option(dsn_reader *reader, const char *to)
{
    latch_dsn_option *option = reader->option;
    const char *equals = find_any(reader->at, to, "=");
    latch_status status = decode(reader, reader->at, equals, true, &option->name);

    if (status == LATCH_DONE) {
        status = check_name(option->name, reader->error);
    }
    if (status != LATCH_DONE) {
        return status;
    }
    option->next = NULL;
    option->value = "";
    reader->option++;
    return equals < to ? decode(reader, equals + 1, to, true, &option->value) : LATCH_DONE;
}

static latch_status read_options(dsn_reader *reader)
{
    latch_dsn_option **last = &reader->dsn->options;

    while (reader->at < reader->end) {
        const char *to = find_any(reader->at, reader->end, "&");

        if (to > reader->at) {
            latch_dsn_option *option = reader->option;
            latch_status status = read_option(reader, to);

            if (status != LATCH_DONE) {
                return status;
            }
            *last = option;
            last = &option->next;
        }
        reader->at = to + (to < reader->end);
    }
    return LATCH_DONE;
}

/* ---- The whole */

static latch_status read_path(dsn_reader *reader)
{
    const char *from = reader->at;

    reader->at = find_any(from, reader->end, "?");
    if (reader->at == from) {
        return LATCH_DONE;
    }
    if (*from != '/') {
        return dsn_fail(reader->error,
                        "a host stands after two slashes, as in \"scheme://host:port\", "
                        "and a path begins with one");
    }
    return decode(reader, from, reader->at, false, &reader->dsn->path);
}

static latch_status read_all(dsn_reader *reader)
{
    bool has_slashes;
    latch_status status = read_scheme(reader);

    if (status != LATCH_DONE) {
        return status;
    }
    has_slashes = reader->end - reader->at >= 2 && memcmp(reader->at, "//", 2) == 0;
    reader->at += has_slashes ? 2 : 0;
    status = read_credentials(reader);
    if (status == LATCH_DONE) {
        status = check_rest(reader);
    }
    if (status == LATCH_DONE && has_slashes) {
        status = read_host(reader);
    }
    if (status == LATCH_DONE) {
        status = read_path(reader);
    }
    if (status != LATCH_DONE || reader->at == reader->end) {
        return status;
    }
    reader->at++; /* the "?" */
    return read_options(reader);
}

/* The most options that the text can have. */
static size_t count_options(const char *text, size_t length)
{
    size_t count = 1;

    for (size_t at = 0; at < length; at++) {
        count += text[at] == '&';
    }
    return count;
}

latch_status latch_dsn_parse(latch_engine *engine, const char *text, size_t length, latch_dsn **dsn,
                             latch_error *error)
{
    size_t options, parts, size;
    dsn_reader reader;
    latch_status status;

    if (length > LATCH_DSN_MAX) {
        return latch_fail(error, LATCH_ERROR_ARGUMENT, 0, "invalid DSN: it is longer than %d bytes",
                          LATCH_DSN_MAX);
    }
    if (memchr(text, '\0', length) != NULL) {
        return dsn_fail(error, "it must not contain a NUL byte");
    }
    options = count_options(text, length);
    parts = 5 + 2 * options; /* scheme, user, password, host and path; names and values */
    size = sizeof(**dsn) + options * sizeof(latch_dsn_option) + length + parts;
    reader.dsn = latch_allocate(engine, size);
    if (reader.dsn == NULL) {
        return latch_fail_memory(error);
    }
    *reader.dsn = (latch_dsn){.path = "", .size = size};
    reader.at = text;
    reader.end = text + length;
    reader.option = (latch_dsn_option *) (reader.dsn + 1);
    reader.out = (char *) (reader.option + options);
    reader.error = error;
    status = read_all(&reader);
    if (status != LATCH_DONE) {
        latch_dsn_free(engine, reader.dsn);
        return status;
    }
    *dsn = reader.dsn;
    return LATCH_DONE;
}

void latch_dsn_free(latch_engine *engine, latch_dsn *dsn)
{
    if (dsn != NULL) {
        explicit_bzero(dsn, dsn->size);
        latch_free(engine, dsn);
    }
}

/* ---- Values of options */

int64_t latch_dsn_read_number(const char *text, size_t length, int64_t max)
{
    int64_t number = 0;

    for (size_t at = 0; at < length; at++) {
        if (!is_digit(text[at])) {
            return -1;
        }
        number = number * 10 + (text[at] - '0');
        if (number > max) {
            return -1;
        }
    }
    return length > 0 ? number : -1;
}

int64_t latch_dsn_read_seconds(const char *text, int64_t max_s)
{
    size_t whole = strspn(text, "0123456789");
    const char *fraction = text + whole + (text[whole] == '.');
    size_t digits = strspn(fraction, "0123456789");
    int64_t ns = whole > 0 ? latch_dsn_read_number(text, whole, max_s) : 0;
    int64_t unit = LATCH_NS_PER_S;

    if (ns < 0 || whole + digits == 0 || fraction[digits] != '\0') {
        return -1;
    }
    ns *= LATCH_NS_PER_S;
    for (size_t at = 0; at < digits; at++) {
        unit /= 10;
        if (unit == 0) {
            return ns + (strspn(fraction + at, "0") < digits - at);
        }
        ns += (fraction[at] - '0') * unit;
    }
    return ns;
}

int latch_dsn_read_boolean(const char *text)
{
    static const char *const off[] = {"", "0", "false", "off", "no"};
    static const char *const on[] = {"1", "true", "on", "yes"};

    for (size_t at = 0; at < sizeof(off) / sizeof(*off); at++) {
        if (strcasecmp(text, off[at]) == 0) {
            return 0;
        }
    }
    for (size_t at = 0; at < sizeof(on) / sizeof(*on); at++) {
        if (strcasecmp(text, on[at]) == 0) {
            return 1;
        }
    }
    return -1;
}
