/*
 * Descriptors of the PHP classes of stores: for each store of the engine an array of them,
 * php_latch_<store>_classes, beside the code of the classes. src/store/stores.def lists them;
 * StoreFactory, phpinfo() and the module's start loop over them.
 */
#ifndef PHP_LATCH_STORE_CLASS_H
#define PHP_LATCH_STORE_CLASS_H

#include "ext/php/primitive.h"

#define LATCH_STORE_NAMESPACE "Latch\\Store\\"

typedef struct php_latch_store_class php_latch_store_class;

/* A form of DSNs that StoreFactory::createStore() takes. */
typedef struct php_latch_dsn_form {
    const char *text; /* the whole DSN; with ":" or "/" at the end its beginning; NULL: the end */
    /* Makes the store; leaves it undefined where there is none, or after throwing. */
    void (*make)(const php_latch_store_class *class, const struct php_latch_dsn_form *form,
                 zend_string *dsn, zval *store);
    /* For completions and messages: "flock:///DIRECTORY", and what that is; NULL: a synonym that
     * is not offered. */
    const char *example, *meaning;
} php_latch_dsn_form;

#define PHP_LATCH_DSN(form, maker)                                                                 \
    {                                                                                              \
        .text = form, .make = maker                                                                \
    }
#define PHP_LATCH_DSN_OFFERED(form, maker, written, means)                                         \
    {                                                                                              \
        .text = form, .make = maker, .example = written, .meaning = means                          \
    }
#define PHP_LATCH_DSN_END                                                                          \
    {                                                                                              \
        .text = NULL                                                                               \
    }

struct php_latch_store_class {
    const char *name;                /* "Latch\\Store\\FlockStore"; NULL: the end of an array */
    const latch_store_info *info;    /* of a store of Composer's */
    const char *store;               /* of the engine's store: its name */
    void (*register_class)(void);    /* called at MINIT */
    const php_latch_dsn_form *forms; /* NULL: no DSN is for it */
    const char *clients; /* classes of objects that its constructor takes in place of a DSN, with
                            "|" between them; NULL: none */
    bool takes_clients;  /* createStore() makes it of them, too */
    const char *package; /* of Composer's that it is in, if that is one of its own */
    const char *without; /* in phpinfo(), where the build lacks the library: what there is */
    void (*print_info)(void); /* further rows of phpinfo(); may be NULL */
};

/* All of Latch's: arrays that end with a class without a name; NULL past the last one. */
extern const php_latch_store_class *const *php_latch_store_classes;

#define PHP_LATCH_EACH_STORE_CLASS(class)                                                          \
    for (const php_latch_store_class *const *array_ = php_latch_store_classes; *array_ != NULL;    \
         array_++)                                                                                 \
        for (const php_latch_store_class *class = *array_; class->name != NULL; class ++)

/* The end of an array of classes. */
#define PHP_LATCH_STORE_CLASS_END                                                                  \
    {                                                                                              \
        .name = NULL                                                                               \
    }

/* "yes (libpq 15.3)", or what there is without the library. */
zend_string *php_latch_store_class_build(const php_latch_store_class *class);

/* Registers StoreFactory and all classes of the list, which stays. */
void php_latch_register_store_classes(const php_latch_store_class *const *classes);

/* ---- Makers of stores (store_factory.c) ----------------------------------------------------- */

/* Makes a store by the constructor. */
void php_latch_make_store(const php_latch_store_class *class, uint32_t count, zval *arguments,
                          zval *store);
/* Without arguments. */
void php_latch_make_store_plain(const php_latch_store_class *class, const php_latch_dsn_form *form,
                                zend_string *dsn, zval *store);
/* With the DSN as the one argument. */
void php_latch_make_store_of_dsn(const php_latch_store_class *class, const php_latch_dsn_form *form,
                                 zend_string *dsn, zval *store);

/* Is the object of one of the classes that the store is made of? */
bool php_latch_store_class_takes(const php_latch_store_class *class, zend_object *client);
/*
 * True if the class has a form of that DSN that is longer than the one found before, and is the
 * found one then; NULL: none was found before.
 */
bool php_latch_find_longer_form(const php_latch_store_class *class, zend_string *dsn,
                                const php_latch_dsn_form **found);
/* The class of the engine's stores whose form the DSN has, and that form: of all that match the
 * longest. NULL: none. */
const php_latch_store_class *php_latch_find_store_class(zend_string *dsn,
                                                        const php_latch_dsn_form **form);
/* Is the form a whole DSN? Else it is the beginning of one. */
bool php_latch_dsn_form_is_whole(const php_latch_dsn_form *form);
/* The rest of the DSN after its form, as a new string. */
zend_string *php_latch_dsn_form_rest(const php_latch_dsn_form *form, zend_string *dsn);
/* Does the text begin with a scheme that is a store's, in any case, and a colon? */
bool php_latch_is_store_dsn(const char *text);

/* Throws for a DSN that cannot be used, the first argument of the active function. */
void php_latch_throw_dsn(const php_latch_primitive *primitive, const latch_error *error,
                         const char *argument);
/* Throws for a DSN that no store has: tells its scheme alone, since the rest may be a password. */
void php_latch_throw_unknown_dsn(zend_string *dsn);
/* What such a message may tell of a DSN, with "…" for the rest: a scheme with "://", or one that is
 * near to a known one. A new string. */
zend_string *php_latch_tell_dsn(zend_string *dsn);

/* ---- Stores of Composer's packages (composer_stores.c) -------------------------------------- */

/* They end with a class without a name. */
extern const php_latch_store_class php_latch_composer_classes[];

/* The class whose form the DSN has; NULL: none. */
const php_latch_store_class *php_latch_find_composer_class(zend_string *dsn,
                                                           const php_latch_dsn_form **form);
/* Makes the store of the client that symfony/cache makes of the DSN. `why`: why our own store
 * cannot serve it, or NULL. */
void php_latch_make_store_by_cache(const php_latch_primitive *primitive,
                                   const php_latch_store_class *class, zend_string *dsn,
                                   const latch_error *why, zval *store);

#endif
