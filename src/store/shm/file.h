/* Inside file.c and header.c. */
#ifndef LATCH_SHM_FILE_H
#define LATCH_SHM_FILE_H

#include "src/store/shm/store.h"

#define BOOT_ID_LENGTH 36

typedef struct shm_header {
    char magic[8];
    uint32_t format;
    uint32_t participant_size, bucket_size, record_size, chunk_records;
    uint32_t participants, buckets, chunks;
    uint64_t epoch; /* wall clock in ns, before all fencing tokens */
    char boot_id[BOOT_ID_LENGTH + 4];
} shm_header;

/* Offsets of the tables, and the size of the file. */
typedef struct shm_layout {
    size_t participants, buckets, chunks, records, size;
} shm_layout;

shm_layout latch_shm_lay_out(const shm_header *header);
/* Reads and checks the header of a file that is locked, or makes the file. */
latch_status latch_shm_read_header(latch_engine *engine, int fd, const shm_options *options,
                                   shm_header *header, latch_error *error);
/* Describes what is wrong with the file: "the file PATH WHAT". */
latch_status latch_shm_fail_file(latch_error *error, const char *path, const char *what);
/* "the file PATH cannot be WHAT: ", and errno. */
latch_status latch_shm_fail_call(latch_error *error, const char *path, const char *what);

#endif
