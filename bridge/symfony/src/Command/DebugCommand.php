<?php

declare(strict_types=1);

namespace Latch\Symfony\Command;

use Latch\Store\StoreFactory;
use Latch\Symfony\Messenger\IfNewer;
use Latch\Symfony\Messenger\Rule;
use Latch\Symfony\Messenger\Rule\KeyTemplate;
use Latch\Symfony\Messenger\Rule\RuleReader;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Exception\InvalidArgumentException;
use Symfony\Component\Console\Formatter\OutputFormatter;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;
use Symfony\Component\Console\Style\SymfonyStyle;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Transport\Sender\SendersLocatorInterface;

#[AsCommand('debug:latch', 'Shows stores, the rules of messages, and the places of the middlewares')]
final class DebugCommand extends Command
{
    /**
     * @param array<string, list<string>> $uses     of stores, by name
     * @param list<class-string>          $messages those that have handlers or transports
     * @param array<string, list<string>> $buses    names of middlewares, by bus
     */
    public function __construct(
        private readonly StoreInspector $inspector,
        private readonly array $uses,
        private readonly ?RuleReader $rules = null,
        private readonly ?KeyTemplate $templates = null,
        private readonly ?SendersLocatorInterface $senders = null,
        private readonly array $messages = [],
        private readonly array $buses = [],
    ) {
        parent::__construct();
    }

    protected function configure(): void
    {
        $this
            ->addArgument('class', InputArgument::OPTIONAL, 'Class of a message, or the end of its name: that one alone')
            ->setHelp(<<<'END'
                Rules that are stamps of a dispatch are not known here, and locks that a LockedMessage computes neither.

                Exit code: 1 when a key has a placeholder that its message cannot fill.

                END);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $style = new SymfonyStyle($input, $output);
        $class = $input->getArgument('class');
        if ($class === null) {
            $this->describeStores($style);
            $this->describeBuses($style);
        }
        if ($this->rules === null || $this->templates === null) {
            return self::SUCCESS;
        }
        $messages = $this->messages;
        if ($class !== null) {
            $class = ltrim(strtr($class, '/', '\\'), '\\');
            $messages = class_exists($class) ? [$class] : preg_grep('/(^|\\\\)' . preg_quote($class, '/') . '$/Di', $messages);
            if ($messages === [] || $messages === false) {
                throw new InvalidArgumentException("No message \"$class\" has a handler or a transport.");
            }
        }

        return $this->describeMessages($style, $messages, $this->rules, $this->templates, $class !== null);
    }

    private function describeStores(SymfonyStyle $style): void
    {
        $style->section('Stores');
        $rows = [];
        foreach ($this->inspector->names() as $name) {
            try {
                $store = $this->inspector->store($name);
            } catch (\Throwable $e) {
                $rows[] = [$name, 'cannot be opened: ' . OutputFormatter::escape($e->getMessage()), '', '', '', $this->use($name)];
                continue;
            }
            $facts = array_values(array_filter(
                StoreFactory::describe(),
                static fn (array $facts): bool => strcasecmp($facts['class'], $store::class) === 0 || $store instanceof $facts['class'],
            ))[0] ?? null;
            $rows[] = [
                $name,
                $facts['title'] ?? $store::class,
                $facts['scope'] ?? '?',
                ($facts['shared'] ?? false) ? 'yes' : 'no',
                ($facts['expiring'] ?? false) ? 'their TTL' : 'their process or session',
                $this->use($name),
            ];
        }
        $style->table(['Name', 'Locks in', 'Scope', 'Readers', 'End with', 'Used for'], $rows);
    }

    private function use(string $store): string
    {
        return implode(",\n", $this->uses[$store] ?? []);
    }

    private function describeBuses(SymfonyStyle $style): void
    {
        foreach ($this->buses as $bus => $middlewares) {
            $style->section("Bus $bus");
            $style->listing(array_map(
                static fn (string $name): string => str_starts_with($name, 'latch.') ? "<info>$name</info>" : $name,
                $middlewares,
            ));
        }
    }

    /**
     * @param array<class-string> $messages
     */
    private function describeMessages(SymfonyStyle $style, array $messages, RuleReader $reader, KeyTemplate $templates, bool $asked): int
    {
        $rows = [];
        $mistakes = [];
        foreach ($messages as $class) {
            $message = (new \ReflectionClass($class))->isInstantiable() ? (new \ReflectionClass($class))->newInstanceWithoutConstructor() : null;
            $rules = $reader->ofClass($class)->list();
            $texts = [];
            foreach ($rules as $rule) {
                $texts[] = $this->text($rule);
                foreach ($message === null ? [] : $this->placeholders($rule, $message, $templates) as $name) {
                    $mistakes[] = "$class: {{$name}} of " . $this->text($rule) . " is no public method $name() or get" . ucfirst($name)
                        . '() without parameters, and no property.';
                }
            }
            if ($texts !== [] || $asked) {
                $rows[] = array_map(OutputFormatter::escape(...), [$class, implode("\n", $texts) ?: 'no rule', $this->destination($message)]);
            }
        }
        $style->section('Messages');
        $rows === [] ? $style->writeln('No message has a rule.') : $style->table(['Message', 'Rules', 'Goes to'], $rows);
        if ($mistakes !== []) {
            $style->error($mistakes);
        }

        return $mistakes === [] ? self::SUCCESS : self::FAILURE;
    }

    /** As it may be written, without what is so by default: "Lock('order_{id}', wait: 5.0)". */
    private function text(Rule $rule): string
    {
        $arguments = [];
        foreach ((new \ReflectionMethod($rule, '__construct'))->getParameters() as $i => $parameter) {
            $name = $parameter->getName();
            $value = $rule->$name ?? null;
            if (!$parameter->isDefaultValueAvailable() || $value !== $parameter->getDefaultValue()) {
                $arguments[] = ($i === 0 ? '' : "$name: ") . ($value instanceof \BackedEnum ? "'$value->value'" : var_export($value, true));
            }
        }

        return (new \ReflectionClass($rule))->getShortName() . '(' . implode(', ', $arguments) . ')';
    }

    /**
     * @return list<string> those that the message cannot fill
     */
    private function placeholders(Rule $rule, object $message, KeyTemplate $templates): array
    {
        $key = $rule->key ?? null;

        return array_values(array_unique([
            ...\is_string($key) ? $templates->unknown($key, $message) : [],
            ...$rule instanceof IfNewer ? $templates->unknown($rule->version, $message) : [],
        ]));
    }

    private function destination(?object $message): string
    {
        if ($message === null || $this->senders === null) {
            return '';
        }
        $names = [];
        foreach ($this->senders->getSenders(new Envelope($message)) as $name => $sender) {
            $names[] = (string) $name;
        }

        return $names === [] ? 'whoever dispatches it' : implode(', ', $names);
    }
}
