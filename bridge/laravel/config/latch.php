<?php

declare(strict_types=1);

return [

    // false: all locks are Laravel's own.
    'enabled' => env('LATCH_ENABLED', true),

    // Where waiters for a lock of the database, file or memcached driver stand in queue. "local": the processes of this
    // machine, in files. "server": the processes of all machines, in the database server (drivers pgsql, mysql and
    // mariadb); each process that locks has one more session with the server.
    'queue' => env('LATCH_QUEUE', 'local'),

    // true: processes without Latch wait for the same locks, as while a fleet is switched over. A lock that processes with
    // Latch hold all the time is left free for a quarter of a second in each second, so that those get it, too.
    'peers' => env('LATCH_PEERS', false),

    // The directory of the files, created if it is missing. null: storage/framework/cache/latch
    'queue_path' => env('LATCH_QUEUE_PATH'),

    // Redis servers of connections whose server Latch is not to read from the application's Redis client, by the connections' names:
    // DSNs, as docs/redis.md has them. Database and prefix are the connection's.
    'connections' => [],

];
