/* Synchronisation primitives: texts of locks and of semaphores. */
#include "ext/php/primitive.h"

php_latch_primitive php_latch_locks = {
    .noun = "lock",
    .ttl = "ttl",
    .conflict_level = "info",
    .servers_by_cache = "Redis or Memcached",
    .not_refreshed = "someone else acquired the lock.",
    .not_acquired = {"The \"", "\" lock has another holder."},
    .not_held = {"The \"", "\" lock cannot be renewed: it is not held, or not any more; acquire it "
                           "anew."},
};

/* The words are those of Symfony's RedisStore, and of its LockStore. */
php_latch_primitive php_latch_semaphores = {
    .is_permit = true,
    .noun = "semaphore",
    .ttl = "ttlInSecond",
    .conflict_level = "notice",
    .servers_by_cache = "Redis",
    .not_refreshed = "the semaphore has expired.",
    .not_acquired = {"The semaphore \"", "\" could not be acquired: the script return false."},
    .not_held = {"The semaphore \"", "\" has expired: the script returns a positive number."},
    .slots_not_acquired = {"The semaphore \"",
                           "\" could not be acquired: There were no free locks found."},
    .slots_not_held =
        {"The semaphore \"",
         "\" has expired: One or multiple locks were not even acquired.."}, /* Symfony's */
};
