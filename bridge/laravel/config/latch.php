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
    // Latch hold all the time is left free for a quarter of a second in each second, so that those get it, too. In Redis
    // Latch does so by itself while the server knows Laravel's script of a release.
    'peers' => env('LATCH_PEERS', false),

    // The directory of the files, created if it is missing. null: storage/framework/cache/latch
    'queue_path' => env('LATCH_QUEUE_PATH'),

    // Latch's DSNs (docs/redis.md) of Redis connections, by the names of these: where Latch cannot know the server from the
    // application's client, such as behind Sentinels with phpredis. The prefix is the connection's.
    'connections' => [],

    // Locks in Redis that are acquired for some seconds at a time, and renewed while their holder's process lives: by patterns
    // of names. When the process is killed, its lock is free after these seconds. The lock's object must live as long as
    // the work: so with the middleware WithoutOverlapping: 'laravel-queue-overlap:*' => 30
    'leases' => [],

    // The same for tasks of the scheduler that do not overlap, and for isolated commands: seconds, or null.
    'schedule_lease' => env('LATCH_SCHEDULE_LEASE'),
    'command_lease' => env('LATCH_COMMAND_LEASE'),

];
