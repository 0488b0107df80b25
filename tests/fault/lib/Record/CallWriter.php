<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Record;

use Latch\Exception\InvalidArgumentException;

/**
 * The records of calls that are no holds: before each call, and what came of it. The words:
 *
 *   worker    KIND PID -                 the first record
 *   call      N NAME RESOURCE ARGUMENT...   is about to call; N counts the calls
 *   returned  N RESULT...                it returned; "refused MESSAGE": it threw an InvalidArgumentException, which is
 *                                        an answer, too
 *   threw     N EXCEPTION                what came of it is not known
 *   fork                                 had a child, which exited at once
 *   end                                  has ended by itself
 */
final class CallWriter
{
    private int $number = 0;

    public function __construct(private readonly Writer $records)
    {
    }

    public function introduce(string $kind): void
    {
        $this->records->write('worker', hrtime(true), $kind, (int) getmypid(), '-');
    }

    /**
     * @param list<string|int>                  $arguments
     * @param \Closure(): list<string|int>|null $call returns RESULT
     *
     * @return list<string>|null RESULT; null: it threw
     */
    public function call(string $name, string $resource, array $arguments, \Closure $call): ?array
    {
        $number = ++$this->number;
        $this->records->write('call', hrtime(true), $number, $name, $resource, ...$arguments);
        try {
            $result = $call();
        } catch (InvalidArgumentException $e) {
            $result = ['refused', self::word($e->getMessage())];
        } catch (\ErrorException $e) {
            throw $e;
        } catch (\Exception $e) {
            $class = substr((string) strrchr('\\' . $e::class, '\\'), 1);
            $this->records->write('threw', hrtime(true), $number, self::word("$class:{$e->getMessage()}"));

            return null;
        }
        $this->records->write('returned', hrtime(true), $number, ...$result);

        return array_map('strval', $result);
    }

    public function note(string $word): void
    {
        $this->records->write($word, hrtime(true));
    }

    private static function word(string $text): string
    {
        return substr((string) preg_replace('/\s/', '_', $text), 0, 100);
    }
}
