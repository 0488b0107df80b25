--TEST--
PostgreSqlStore: a wait with a timeout ends in an exception where the server has told of no holder
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sql.inc';
require __DIR__ . '/../../utils/phpt_outage.inc';

$ground = Ground::postgresql();
$count = 0;
prove_outage(
    $ground->server,
    /* Of one time-out each: so each has a session of its own. */
    function (string $name) use ($ground, &$count) {
        return $ground->lock($name, $ground->store(sprintf(';read_timeout=%d', 300 + $count++)));
    },
    '/: lost the connection to PostgreSQL at ADDRESS: it does not answer, nor does it end a wait\.$/',
    '/: cannot connect to PostgreSQL at ADDRESS in time\.$/',
);
echo "done\n";
--EXPECT--
done
