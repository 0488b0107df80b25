<?php

// lock.rst, "The Owner of The Lock": asked
if ($lock->isAcquired()) {
    $service->count();
}
