<?php

declare(strict_types=1);

return [

    // false: all locks are Laravel's own.
    'enabled' => env('LATCH_ENABLED', true),

    // Where waiters for a lock of the database, file or memcached driver stand in queue. "local": the processes of this
    // machine, in files. "server": the processes of all machines, in the database server (drivers pgsql, mysql and
    // mariadb); each process that locks has one more session with the server.
    'queue' => env('LATCH_QUEUE', 'local'),

    // The directory of the files, created if it is missing. null: storage/framework/cache/latch
    'queue_path' => env('LATCH_QUEUE_PATH'),

];
