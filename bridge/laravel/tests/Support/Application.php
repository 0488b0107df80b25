<?php

declare(strict_types=1);

namespace Latch\Laravel\Tests\Support;

/**
 * An application as "composer create-project laravel/laravel" makes it, with latch/laravel among its packages.
 */
final class Application
{
    public readonly string $directory;
    private int $processes = 0;

    /** Where PHP keeps what it has compiled, for processes with the extension and without; of this run alone. */
    private static ?string $compiled = null;

    /**
     * @param array<string, string|int> $env      what the file .env has beside the driver's
     * @param array<string, mixed>      $settings config/latch.php, if any
     */
    public function __construct(public readonly Driver $driver, array $env = [], ?array $settings = null)
    {
        // In memory, as SQLite writes through to the disk.
        $this->directory = '/dev/shm/latch-laravel-' . bin2hex(random_bytes(6));
        foreach (['bootstrap/cache', 'config', 'database/migrations', 'storage/framework/cache/data', 'storage/framework/sessions',
            'storage/framework/views', 'storage/logs', 'vendor/composer'] as $folder) {
            mkdir("$this->directory/$folder", 0777, true);
        }
        copy(\dirname(__DIR__) . '/app/app.php', "$this->directory/bootstrap/app.php");
        // What Composer writes, which Laravel reads to find packages.
        file_put_contents("$this->directory/vendor/composer/installed.json", json_encode(['packages' => [
            json_decode((string) file_get_contents(\dirname(__DIR__, 2) . '/composer.json'), true),
        ]]));
        $this->writeEnv($env);
        if ($settings !== null) {
            $this->configure('latch', $settings);
        }
        $this->driver->prepare($this);
    }

    /**
     * @param array<string, string|int> $env
     */
    public function writeEnv(array $env): void
    {
        $lines = '';
        foreach ($env + $this->driver->env($this) + [
            'APP_ENV' => 'testing', 'APP_KEY' => 'base64:' . base64_encode(str_repeat('k', 32)), 'LOG_CHANNEL' => 'single',
        ] as $name => $value) {
            $lines .= "$name=$value\n";
        }
        file_put_contents("$this->directory/.env", $lines);
    }

    /**
     * Writes config/FILE.php, for processes that start from now on.
     *
     * @param array<string, mixed> $settings
     */
    public function configure(string $file, array $settings): void
    {
        file_put_contents("$this->directory/config/$file.php", '<?php return ' . var_export($settings, true) . ';');
    }

    /**
     * A process with the extension.
     *
     * @param string ...$settings of PHP, "name=value"
     */
    public function start(string ...$settings): Process
    {
        return $this->process(['extension=' . getenv('LATCH_SO'), ...self::compiled('latch'), ...$settings]);
    }

    /** A process without the extension: all is Laravel's own. */
    public function startStock(): Process
    {
        return $this->process(self::compiled('stock'));
    }

    public function log(): string
    {
        return (string) @file_get_contents("$this->directory/storage/logs/laravel.log");
    }

    public function __destruct()
    {
        exec('rm -rf ' . escapeshellarg($this->directory));
    }

    /**
     * To compile the framework takes half of the time in which a process starts. A folder for each kind of process, as PHP
     * may compile a look for an extension to what it found.
     *
     * @return list<string> settings of PHP
     */
    private static function compiled(string $kind): array
    {
        if (self::$compiled === null) {
            self::$compiled = $folder = '/dev/shm/latch-laravel-compiled-' . bin2hex(random_bytes(6));
            register_shutdown_function(static fn () => exec('rm -rf ' . escapeshellarg($folder)));
        }
        $folder = self::$compiled . "/$kind";
        is_dir($folder) || mkdir($folder, 0777, true);

        return ['opcache.enable_cli=1', "opcache.file_cache=$folder", 'opcache.file_cache_only=1'];
    }

    /**
     * @param list<string> $settings of PHP
     */
    private function process(array $settings): Process
    {
        $options = [];
        foreach ($settings as $setting) {
            array_push($options, '-d', $setting);
        }

        return new Process(
            [\PHP_BINARY, ...$options, \dirname(__DIR__) . '/app/process.php', $this->directory],
            $this->directory . '/errors-' . ++$this->processes,
            $this,
        );
    }
}
