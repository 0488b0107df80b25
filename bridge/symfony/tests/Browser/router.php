<?php

/*
 * For php -S: the application with the profiler, and the page that shows another one in a frame and measures it. The
 * environment has LATCH_BROWSER_DIRECTORY, and the DSN LATCH_BROWSER_STORE.
 */

declare(strict_types=1);

use Latch\Symfony\Tests\Support\ProfiledKernel;
use Symfony\Component\HttpFoundation\Request;

require dirname(__DIR__) . '/bootstrap.php';

$request = Request::createFromGlobals();
if ($request->getPathInfo() === '/frame.html') {
    readfile(__DIR__ . '/frame.html');

    return;
}
$directory = (string) getenv('LATCH_BROWSER_DIRECTORY');
$stores = ['default' => (string) getenv('LATCH_BROWSER_STORE'), 'local' => 'in-memory'];
$kernel = new ProfiledKernel($directory, $stores, "flock://$directory");
$response = $kernel->handle($request);
$response->send();
file_put_contents("$directory/requests.log", $response->getStatusCode() . ' ' . $request->getRequestUri() . "\n", \FILE_APPEND);
$kernel->terminate($request, $response);
