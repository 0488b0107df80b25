<?php

// components/lock.rst of 7.4, "Serializing Locks": the same, by a Lock of the application's own
use App\Message\CountStock;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\Lock;

$key = new Key('stock-of-' . $article->getId());
$lock = new Lock(
    $key,
    $this->store,
    300,
    false
);
$lock->acquire(true);

$this->bus->dispatch(new CountStock($article, $key));
