<?php

// lock.rst, "The Owner of The Lock": of a transaction that may take longer than the lock
if (!$lock->acquire()) {
    return;
}

$this->beginTransaction();

// count the whole stock

if ($lock->isAcquired()) {
    $this->commit();
} else {
    // somebody else may be counting by now
    $this->rollback();
    throw new \Exception('Counted in vain');
}
