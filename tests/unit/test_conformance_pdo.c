/* The store "pdo", whose caller has the database, in the conformance suite. */
#include "database_rows.h"

int main(void)
{
    return unit_database_conformance("pdo");
}
