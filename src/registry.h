/* The store classes of this build. */
#ifndef LATCH_REGISTRY_H
#define LATCH_REGISTRY_H

#include "src/engine/store.h"

extern const latch_store_class latch_callback_store;
extern const latch_store_class latch_combined_store;
extern const latch_store_class latch_flock_store;
extern const latch_store_class latch_memory_store;
extern const latch_store_class latch_mysql_store;
extern const latch_store_class latch_null_store;
extern const latch_store_class latch_postgresql_store;
extern const latch_store_class latch_redis_store; /* in builds with hiredis */
extern const latch_store_class latch_semaphore_store;

#endif
