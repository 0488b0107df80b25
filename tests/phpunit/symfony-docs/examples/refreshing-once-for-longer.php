<?php

// lock.rst, "Expiring Locks": a TTL for one refresh
$lock = $factory->createLock('stock-count', ttl: 30);
// …
$lock->refresh();
// … as long as the next shelf takes; after that it is half a minute again
$lock->refresh(600);
