/* The store classes of this build. */
#ifndef LATCH_REGISTRY_H
#define LATCH_REGISTRY_H

#include "src/engine/store.h"

#define LATCH_STORE(store) extern const latch_store_class latch_##store##_store;
#include "src/store/stores.def"
/* Not listed: functions of the engine's user, and permits as locks in another store. */
extern const latch_store_class latch_callback_store;
extern const latch_store_class latch_slots_store;
/* Not listed either: locks in tables, which several classes of PHP's are made of. */
extern const latch_store_class latch_table_store;

#endif
