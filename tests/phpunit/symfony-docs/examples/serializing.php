<?php

// lock.rst, "Serializing Locks": acquired here, released by whoever handles the message
use App\Message\CountStock;
use Symfony\Component\Lock\Key;

$key = new Key('stock-of-' . $article->getId());
$lock = $factory->createLockFromKey(
    $key,
    300,
    false
);
$lock->acquire(true);

$this->bus->dispatch(new CountStock($article, $key));
