<?php
/*
 * Stands between a Redis server and its clients, and does to them what networks do.
 *
 * Usage: redis_proxy.php PORT, the server's. It prints its own port, then reads orders, a mode or "mode"
 * on each line, and answers each with the mode that it is in. Ends with its input.
 *
 *   pass            passes on all there is
 *   trickle         byte by byte
 *   lose [TEXT]     once: hangs up on the next request, which does not get to the server
 *   drop [TEXT]     once: passes the next request on, and hangs up instead of passing on its reply
 *   cut [TEXT]      once: the same, after the first half of the reply
 *   hang [TEXT]     passes on requests, and swallows their replies; those connections stay deaf
 *   garbage         answers requests as a web server would, and does not pass them on
 *
 * With TEXT it is about requests which have this text in them, in any case; others are passed on.
 */

declare(strict_types=1);

const MODES = ['pass', 'trickle', 'lose', 'drop', 'cut', 'hang', 'garbage'];
const ONCE = ['lose', 'drop', 'cut'];
const GARBAGE = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nno";

/** A client's connection and the one to the server that belongs to it. */
final class Pair
{
    /** What the replies of the server are in for. */
    public string $fate = '';

    /**
     * @param resource $client
     * @param resource $server
     */
    public function __construct(public $client, public $server)
    {
    }

    public function hangUp(): void
    {
        fclose($this->client);
        fclose($this->server);
    }
}

final class Proxy
{
    private string $mode = 'pass';
    private string $text = '';
    /** @var resource */
    private $listener;
    /** @var array<int, Pair> */
    private array $pairs = [];

    public function __construct(private readonly string $server)
    {
        // so that a byte that is sent alone travels alone
        $context = stream_context_create(['socket' => ['tcp_nodelay' => true]]);
        $flags = STREAM_SERVER_BIND | STREAM_SERVER_LISTEN;
        $this->listener = stream_socket_server('tcp://127.0.0.1:0', $number, $message, $flags, $context);
        echo substr(strrchr(stream_socket_get_name($this->listener, false), ':'), 1), "\n";
    }

    public function run(): void
    {
        while (true) {
            $read = [STDIN, $this->listener];
            foreach ($this->pairs as $pair) {
                array_push($read, $pair->client, $pair->server);
            }
            $none = null;
            if (!stream_select($read, $none, $none, null)) {
                continue;
            }
            // Orders first: who gave one and then sends something wants the one before the other.
            if (in_array(STDIN, $read, true)) {
                $order = fgets(STDIN);
                if ($order === false) {
                    return;
                }
                $this->obey(rtrim($order));
                continue;
            }
            foreach ($this->pairs as $number => $pair) {
                $stays = (!in_array($pair->client, $read, true) || $this->request($pair))
                    && (!in_array($pair->server, $read, true) || $this->reply($pair));
                if (!$stays) {
                    $pair->hangUp();
                    unset($this->pairs[$number]);
                }
            }
            if (in_array($this->listener, $read, true)) {
                $this->accept();
            }
        }
    }

    private function obey(string $order): void
    {
        [$mode, $text] = explode(' ', "$order ", 2);
        if (in_array($mode, MODES, true)) {
            $this->mode = $mode;
            $this->text = trim($text);
        }
        echo $this->mode, "\n";
    }

    private function accept(): void
    {
        $client = stream_socket_accept($this->listener, 0);
        $server = @stream_socket_client("tcp://127.0.0.1:$this->server");
        if ($client !== false && $server !== false) {
            $this->pairs[] = new Pair($client, $server);
        }
    }

    /** From the client to the server; false: hang up. */
    private function request(Pair $pair): bool
    {
        $data = fread($pair->client, 65536);
        if ($data === '' || $data === false) {
            return false;
        }
        $mode = 'pass';
        if ($this->text === '' || stripos($data, $this->text) !== false) {
            $mode = $this->mode;
        }
        if (in_array($mode, ONCE, true)) {
            $this->mode = 'pass';
            $pair->fate = $mode;
        }
        if ($mode === 'lose') {
            return false;
        }
        if ($mode === 'garbage') {
            return (bool) @fwrite($pair->client, GARBAGE);
        }
        if ($mode === 'hang') {
            $pair->fate = $mode;
        }
        return $this->send($pair->server, $data);
    }

    /** From the server to the client; false: hang up. */
    private function reply(Pair $pair): bool
    {
        $data = fread($pair->server, 65536);
        if ($data === '' || $data === false) {
            return false;
        }
        return match ($pair->fate) {
            'hang' => true,
            'drop' => false,
            'cut' => $this->send($pair->client, substr($data, 0, intdiv(strlen($data), 2))) && false,
            default => $this->send($pair->client, $data),
        };
    }

    /** @param resource $to */
    private function send($to, string $data): bool
    {
        foreach (str_split($data, $this->mode === 'trickle' ? 1 : max(1, strlen($data))) as $part) {
            if (@fwrite($to, $part) !== strlen($part)) {
                return false;
            }
        }
        return true;
    }
}

(new Proxy($argv[1]))->run();
