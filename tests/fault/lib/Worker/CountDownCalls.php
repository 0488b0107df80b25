<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

use Latch\CountDown;
use Latch\SyncFactory;
use Latch\Tests\Fault\Record\CallWriter;
use Random\Randomizer;

/**
 * Groups one after the other for each resource: all workers open the group, deliver its members, many of them more than
 * once, and go on until the last step is done, which some leave undone when it is theirs.
 */
final class CountDownCalls implements Calls
{
    private const MEMBERS = ['a', 'b', 'c', 'd', 'e', 'f'];
    /** Seconds that the last step may take; most do it within a few ms. */
    private const CLAIM = 0.1;
    /** One group of so many has no last step. */
    private const PLAIN = 5;

    /** @var array<string, int> numbers of the groups that this worker is at, by resource */
    private array $numbers = [];
    /** @var array<string, CountDown> those that it has opened, by resource */
    private array $opened = [];

    /**
     * @param list<string> $resources
     * @param string       $directory where the groups' numbers are kept for workers that begin
     */
    public function __construct(
        private readonly SyncFactory $sync,
        private readonly CallWriter $records,
        private readonly array $resources,
        private readonly Randomizer $chance,
        private readonly string $directory,
    ) {
    }

    public function step(): void
    {
        $resource = $this->resources[$this->chance->getInt(0, \count($this->resources) - 1)];
        $number = $this->numbers[$resource] ??= $this->known($resource);
        $group = "$resource/$number";
        $payload = $number % self::PLAIN === 0 ? null : "last:$group";
        if (!isset($this->opened[$resource])) {
            $count = $this->sync->createCountDown($group);
            $answer = $this->records->call(
                'open',
                $group,
                [implode(',', self::MEMBERS), $payload ?? '-'],
                static fn (): array => [(int) $count->open(self::MEMBERS, $payload)],
            );
            if ($answer === null) {
                return;
            }
            $this->opened[$resource] = $count;
        }
        $count = $this->opened[$resource];
        $percent = $this->chance->getInt(1, 100);
        if ($percent <= 10) {
            $answer = $this->records->call('inspect', $group, [], static fn (): array => [$count->inspect()['state']]);
            if ($answer === ['done']) {
                $this->goOn($resource);
            } elseif ($answer === ['none']) {
                unset($this->opened[$resource]);
            }
        } elseif ($percent <= 14) {
            $wait = $this->chance->getInt(0, 20);
            $answer = $this->records->call('await', $group, [$wait], static fn (): array => [
                (int) $count->await($wait / 1e3),
            ]);
            $this->heed($answer, $resource);
        } else {
            $this->arrive($count, $resource, $group, $payload);
        }
    }

    private function arrive(CountDown $count, string $resource, string $group, ?string $payload): void
    {
        $member = self::MEMBERS[$this->chance->getInt(0, \count(self::MEMBERS) - 1)];
        $hasFailed = $this->chance->getInt(1, 100) <= 5;
        $answer = $this->records->call(
            'arrive',
            $group,
            [$member, (int) $hasFailed, (int) (self::CLAIM * 1e3), \count(self::MEMBERS), $payload ?? '-'],
            static function () use ($count, $member, $hasFailed): array {
                $arrival = $count->arrive($member, $hasFailed, self::CLAIM);

                return [$arrival->left, $arrival->payload ?? '-', implode(',', $arrival->failed) ?: '-'];
            },
        );
        $this->heed($answer, $resource);
        if (($answer[1] ?? '-') === '-' || ($answer[0] ?? '') === 'refused' || $this->chance->getInt(1, 100) <= 5) {
            return; // it is not its last step, or it leaves it undone
        }
        usleep($this->chance->getInt(0, 2000));
        $answer = $this->records->call('done', $group, [], static function () use ($count): array {
            $count->done();

            return ['done'];
        });
        if ($answer === ['done']) {
            $this->goOn($resource);
        }
    }

    /** @param list<string>|null $answer */
    private function heed(?array $answer, string $resource): void
    {
        if (($answer[0] ?? '') === 'refused') {
            unset($this->opened[$resource]); // the server has forgotten it
        }
    }

    private function goOn(string $resource): void
    {
        unset($this->opened[$resource]);
        $this->numbers[$resource] = max($this->numbers[$resource] + 1, $this->known($resource));
        $file = "$this->directory/locks/$resource";
        file_put_contents($file . getmypid(), (string) $this->numbers[$resource]);
        rename($file . getmypid(), $file);
    }

    /** The number of the group that the workers are at. */
    private function known(string $resource): int
    {
        $file = "$this->directory/locks/$resource";

        return is_file($file) ? (int) file_get_contents($file) : 0;
    }
}
