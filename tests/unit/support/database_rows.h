/* A database in memory, and the functions that a caller of the stores "pdo" and "doctrine-dbal" has
 * for one. */
#ifndef UNIT_DATABASE_ROWS_H
#define UNIT_DATABASE_ROWS_H

#include "unit.h"

/* Fails, as a connection does that is not there. */
extern const latch_store_calls unit_database_nowhere;

/* The whole program of the conformance suite for the store of this name. */
int unit_database_conformance(const char *store);

#endif
