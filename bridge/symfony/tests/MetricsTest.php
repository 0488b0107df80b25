<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests;

use Latch\Symfony\Tests\Message\InOrder;
use Latch\Symfony\Tests\Message\Locked;
use Latch\Symfony\Tests\Message\Single;
use Latch\Symfony\Tests\Support\AppTestCase;
use OpenTelemetry\API\Instrumentation\Configurator;
use OpenTelemetry\SDK\Metrics\Data\HistogramDataPoint;
use OpenTelemetry\SDK\Metrics\MeterProvider;
use OpenTelemetry\SDK\Metrics\MetricExporter\InMemoryExporter;
use OpenTelemetry\SDK\Metrics\MetricReader\ExportingReader;

final class MetricsTest extends AppTestCase
{
    public function testOpenTelemetryGetsTheMetrics(): void
    {
        $exporter = new InMemoryExporter();
        $reader = new ExportingReader($exporter);
        $provider = MeterProvider::builder()->addReader($reader)->build();
        $scope = Configurator::create()->withMeterProvider($provider)->activate();
        try {
            $app = $this->app([Locked::class => 'a', Single::class => 'a', InOrder::class => 'a']);
            $app->bus()->dispatch(new Locked(1));
            $app->bus()->dispatch(new Locked(2));
            $lock = $app->locks()->createLock('item-2');
            $lock->acquire();
            $app->work();
            foreach ([new Single(1), new Single(1), new InOrder(1), new InOrder(2)] as $message) {
                $app->bus()->dispatch($message);
            }
            $reader->collect();
        } finally {
            $scope->detach();
        }
        $found = [];
        foreach ($exporter->collect() as $metric) {
            foreach ($metric->data->dataPoints as $point) {
                $attributes = $point->attributes->toArray();
                $labels = [$attributes['latch.rule'], $attributes['latch.key'], $attributes['latch.outcome'] ?? ''];
                $found[] = "$metric->name " . implode(' ', $labels) . ' ' . ($point instanceof HistogramDataPoint ? $point->count : $point->value);
            }
        }
        sort($found);

        self::assertSame([
            'latch.lock.hold Lock item-{id}  1',
            'latch.lock.wait Lock item-{id} acquired 1',
            'latch.lock.wait Lock item-{id} refused 1',
            'latch.messages Lock item-{id} requeued 1',
            'latch.messages Once job-{id} skipped 1',
            'latch.messages Ordered {key} parked 1',
        ], $found);
    }
}
