<?php

declare(strict_types=1);

namespace Shop;

use Latch\Exception\ExceptionInterface;
use Latch\Exception\InvalidArgumentException;
use Latch\Exception\InvalidTtlException;
use Latch\Exception\LockExpiredException;
use Latch\Exception\LockStorageException;
use Latch\Exception\UnserializableKeyException;

/** Why something could not be done, in the words of this application. */
final class Failure extends \RuntimeException
{
    public function __construct(string $message, ?ExceptionInterface $reason = null)
    {
        parent::__construct($message, 0, $reason);
    }

    /** @param callable(): mixed $call */
    public static function of(callable $call): string
    {
        try {
            $call();
        } catch (InvalidTtlException) {
            return 'this time to live cannot be';
        } catch (InvalidArgumentException $argument) {
            return $argument->getMessage();
        } catch (LockExpiredException $lost) {
            // Of synchronized(): the work was done, but perhaps not alone.
            return ($lost->getResult() === null ? 'lost: ' : 'done, but lost: ') . $lost->getMessage();
        } catch (LockStorageException $lost) {
            return 'lost: ' . $lost->getMessage();
        } catch (UnserializableKeyException) {
            return 'this lock stays in its process';
        }

        return 'nothing';
    }
}
