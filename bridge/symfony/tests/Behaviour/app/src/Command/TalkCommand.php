<?php

declare(strict_types=1);

namespace App\Command;

use App\Messenger\Locks;
use App\Messenger\Sending;
use Latch\Key;
use Latch\LockInterface;
use Latch\Symfony\Messenger\HandOver;
use Latch\Symfony\Messenger\Plan;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;
use Symfony\Component\Messenger\Exception\HandlerFailedException;
use Symfony\Component\Messenger\Exception\RecoverableExceptionInterface;
use Symfony\Component\Messenger\MessageBus;

/**
 * A process that is no worker, such as a controller's: it does what it is told, a line of JSON each, and tells what
 * came out.
 */
#[AsCommand('app:talk')]
final class TalkCommand extends Command
{
    /** @var array<string, LockInterface> */
    private array $locks = [];

    public function __construct(private readonly Sending $sending, private readonly Locks $factory, private readonly Plan $plan)
    {
        parent::__construct();
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        while (($line = fgets(\STDIN)) !== false) {
            [$what, $arguments] = json_decode($line, true, 512, \JSON_THROW_ON_ERROR);
            try {
                $answer = $this->$what(...$arguments);
            } catch (\Throwable $e) {
                $answer = ['error' => $this->told($e)];
            }
            fwrite(\STDOUT, json_encode($answer, \JSON_THROW_ON_ERROR | \JSON_INVALID_UTF8_SUBSTITUTE) . "\n");
        }

        return self::SUCCESS;
    }

    /**
     * @param array<string, mixed> $order
     *
     * @return array<string, mixed>
     */
    private function send(array $order): array
    {
        return $this->sending->send($order)->told();
    }

    /**
     * A plan: each call is the name of its method and arguments, messages among them as orders.
     *
     * @param list<mixed> ...$calls
     */
    private function plan(array ...$calls): bool
    {
        foreach ($calls as $call) {
            $method = array_shift($call);
            $this->plan->$method(...array_map(
                fn (mixed $argument): mixed => \is_array($argument) ? $this->sending->envelope($argument) : $argument,
                $call,
            ));
        }

        return $this->plan->send();
    }

    /**
     * As a controller does it whose report another process makes.
     *
     * @param array<string, mixed> $order
     *
     * @return array<string, mixed>|string
     */
    private function sendUnderLock(string $resource, array $order): array|string
    {
        $key = new Key($resource);
        if (!$this->factory->factory()->createLockFromKey($key, 1800.0, false)->acquire()) {
            return 'locked';
        }

        return $this->sending->send($order, new HandOver($key))->told();
    }

    private function lock(string $resource): bool
    {
        $this->locks[$resource] = $this->factory->create($resource);

        return $this->locks[$resource]->acquire();
    }

    private function unlock(string ...$resources): bool
    {
        foreach ($resources as $resource) {
            $this->locks[$resource]->release();
            unset($this->locks[$resource]);
        }

        return true;
    }

    /**
     * Short names of the classes of a bus's middlewares, in their order.
     *
     * @return list<string>
     */
    private function middlewares(string $bus): array
    {
        $names = [];
        $property = new \ReflectionProperty(MessageBus::class, 'middlewareAggregate');
        foreach ($property->getValue($this->sending->bus($bus)) as $middleware) {
            $names[] = (new \ReflectionClass($middleware))->getShortName();
        }

        return $names;
    }

    /**
     * @return array{class: string, text: string, recoverable: bool}
     */
    private function told(\Throwable $e): array
    {
        $cause = $e instanceof HandlerFailedException ? array_values($e->getWrappedExceptions())[0] : $e;

        return [
            'class' => $cause::class,
            'text' => $cause->getMessage(),
            'recoverable' => $cause instanceof RecoverableExceptionInterface,
        ];
    }
}
