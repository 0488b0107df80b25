--TEST--
The completions for bash and zsh offer commands, options, stores and what stands behind "--"
--SKIPIF--
<?php
if (getenv('LATCH_INSTRUMENTED')) {
    die('skip the C code is tested with the stores, and PHP starts dozens of times here');
}
if (!is_executable('/bin/bash')) {
    die('skip needs bash');
}
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_cli.inc';

$directory = temporary_directory();
mkdir("$directory/locks");
mkdir("$directory/logs");
touch("$directory/log file");

// The command, which tells the completions of the stores.
mkdir("$directory/bin");
file_put_contents("$directory/bin/latch", "#!/bin/sh\nexec " . implode(' ', array_map('escapeshellarg', latch_command())) . " \"\$@\"\n");
chmod("$directory/bin/latch", 0755);
putenv("PATH=$directory/bin:" . getenv('PATH'));
putenv("HOME=$directory");

/** What bash offers for a line, whose words are given as bash takes them apart. */
function bash_offers(string ...$words): array
{
    $script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _latch; printf "%s\n" "${COMPREPLY[@]}"';
    $program = new Program(['bash', '--norc', '-c', $script, 'bash', __DIR__ . '/../../../completion/latch.bash', ...$words]);
    check_same('exit 0', $program->let_go()->ending(), 'bash ends well');
    check_same('', $program->err(), 'bash complains of nothing');
    return array_values(array_filter(explode("\n", $program->out()), fn ($line) => $line !== ''));
}

// DSNs of the stores that exclude other processes, as far as they can be completed; those that expire come last.
$stores = array_filter(Latch\Store\StoreFactory::describe(), fn (array $store) => $store['native'] && in_array($store['scope'], ['machine', 'server'], true));
usort($stores, fn (array $one, array $other) => $one['expiring'] <=> $other['expiring']);
$stores = preg_replace('/([A-Z]+|…)$/D', '', array_keys(array_merge(...array_column($stores, 'examples'))));
check_same([], array_diff(['flock', 'flock:///', 'flock+remove', 'flock+remove:///', 'semaphore', 'semaphore://', 'pgsql+advisory:',
    'postgresql+advisory://', 'mysql+advisory:', 'mysql+advisory://', 'redis://', 'valkey://', 'redis+string://', 'valkey+string://'], $stores), 'stores');

$options = ['--store=', '--wait', '--wait=', '--slots=', '--shared', '--conflict-exit-code=', '--quiet', '--ttl=', '--keep-alive',
    '--no-keep-alive', '--lost-signal=', '--lost-grace=', '--lost-exit-code=', '--max-hold=', '--help', '-w', '-n', '-E'];
foreach ([
    [['run', 'status', 'list', 'release', 'doctor', 'help', '--help', '--version'], ['latch', '']],
    [['status'], ['latch', 'st']],
    [['run', 'status', 'list', 'release', 'doctor'], ['latch', 'help', '']],
    [$options, ['latch', 'run', '-']],
    [['--wait', '--wait='], ['latch', 'run', 'job', '--w']],
    [['--lost-signal=', '--lost-grace=', '--lost-exit-code='], ['latch', 'run', '--lost']],
    [['-E'], ['latch', 'run', '-E']],
    [['readonly'], ['latch', 'run', '-w', '5', 'job', '--', 'readonl']],
    [['redis+string://', 'redis://'], ['latch', 'run', '--store', '=', 're']],
    [['redis+string://', 'redis://'], ['\\latch', 'run', '--store', '=', 're']],
    [['redis+string://', 'redis://'], ['~/bin/latch', 'run', '--store', '=', 're']],
    [['redis+string://', 'redis://'], ["$directory/bin/latch", 'run', '--store', '=', 're']],
    [['--store=', '--format=json', '--help'], ['latch', 'status', '--']],
    [['--store=', '--all', '--format=json', '--help'], ['latch', 'list', '-']],
    [['--store=', '--force', '--yes', '--help'], ['latch', 'release', '-']],
    [['--store=', '--vendor=', '--format=json', '--help'], ['latch', 'doctor', '-']],
    [["$directory/locks/"], ['latch', 'doctor', '--vendor', '=', "$directory/loc"]],
    [[], ['latch', 'fly', '-']],
    [[], ['latch', 'run', 'jo']],
    [[], ['latch', 'run', '--ttl', '=', '3']],
    [['flock', 'flock:///', 'flock+remove', 'flock+remove:///'], ['latch', 'run', '--store', '=', 'fl']],
    [['semaphore', 'semaphore://'], ['latch', 'run', '--store', 'sem']],
    [$stores, ['latch', 'run', '--store', '=']],
    [["//$directory/locks/", "//$directory/logs/"], ['latch', 'run', 'job', '--store', '=', 'flock', ':', "//$directory/lo"]],
    [["//$directory/logs/"], ['latch', 'status', '--store', '=', 'flock+remove', ':', "//$directory/log"]],
    [["//$directory/locks"], ['latch', 'run', 'job', '--store', '=', 'shm', ':', "//$directory/loc"]],
    [['//'], ['latch', 'run', '--store', '=', 'semaphore', ':']],
    [['readonly'], ['latch', 'run', 'job', '--', 'readonl']],
    [['readonly'], ['latch', 'run', '--wait', '--', '-job', '--', 'readonl']],
    [[], ['latch', 'run', '--', '-jo']],
    [[], ['latch', 'status', '--', 'readonl']],
] as [$expected, $words]) {
    $offered = bash_offers(...$words);
    sort($offered);
    sort($expected);
    check_same($expected, $offered, implode(' ', $words));
}
check(preg_match('/^exit 0: (.+)\n\|$/sD', latch_to_end('completion', '--stores'), $match) === 1, 'the command tells of the stores');
$told = array_map(fn (string $line) => explode("\t", $line), explode("\n", $match[1]));
check_same($stores, array_column($told, 0), 'what the command tells');
check(!in_array('', array_column($told, 1), true), 'each has a meaning');
check(str_starts_with(latch_to_end('completion'), 'exit 64: |latch: "latch completion" takes one argument'), 'nothing else is told');
check_same("exit 0: complete -F _latch latch\n|", (new Program(
    ['bash', '--norc', '-c', 'source "$1"; complete -p latch', 'bash', __DIR__ . '/../../../completion/latch.bash']
))->let_go()->all(), 'it is bound to the command');

/*
 * zsh's completion wants its line editor, and that a terminal: zsh in zsh's own pseudo-terminal. It
 * types a line and a tab, and reads what the line has become.
 */
function zsh_completes(string $line): string
{
    $script = <<<'ZSH'
        zmodload zsh/zpty
        zpty -b shell zsh -f -i
        talk() { zpty -w shell "$1" }
        hear() { # until that was printed; in whole: REPLY
            local text= part
            local -i tries
            for ((tries = 0; tries < 4000; tries++)); do
                zpty -r -t shell part && text+=$part
                [[ $text != *$1* ]] || { REPLY=$text; return 0 }
                zselect -t 1
            done
            print -r -- "in vain for $1, but: $text"
            exit 1
        }
        zmodload zsh/zselect
        talk "PROMPT= RPROMPT= PS2= TERM=dumb; unsetopt zle_bracketed_paste prompt_sp; stty -echo"
        talk "fpath=($1 \$fpath); autoload -U compinit; compinit -D -u; unsetopt list_beep"
        talk "zstyle ':completion:*' list-colors ''; LISTMAX=1000; cd $2"
        # what the line has become is told by a widget, in one piece
        talk "tell() { print -r -- \"<<\$BUFFER>>\"; zle send-break }; zle -N tell; bindkey '^T' tell; print rea''dy"
        hear ready
        zpty -w -n shell "$3"$'\t\C-t'
        hear '>>'
        print -r -- "${${REPLY##*<<}%%>>*}"
        ZSH;
    $program = new Program(['zsh', '-f', '-c', $script, 'zsh', realpath(__DIR__ . '/../../../completion'), $GLOBALS['directory'], $line]);
    check_same('exit 0', $program->let_go()->ending(), 'zsh ends well: ' . $program->out());
    return substr($program->out(), 0, -1);
}

// Another latch than that of PATH: the stores are those of the one that is called.
mkdir("$directory/other");
file_put_contents("$directory/other/latch", "#!/bin/sh\nprintf 'others\\tof another build\\n'\n");
chmod("$directory/other/latch", 0755);
check_same(['others'], bash_offers('~/other/latch', 'run', '--store', '=', 'oth'), 'bash: the latch that is called');
if (is_executable('/bin/zsh') || is_executable('/usr/bin/zsh')) {
    foreach ([
        '~/other/latch run --store=oth' => '~/other/latch run --store=others ',
        'latch st' => 'latch status ',
        'latch run --sha' => 'latch run --shared ',
        'latch run --conf' => 'latch run --conflict-exit-code=',
        'latch run --store=sem' => 'latch run --store=semaphore',
        'latch run -nE 7 --sha' => 'latch run -nE 7 --shared ',
        'latch run -w 5 --conf' => 'latch run -w 5 --conflict-exit-code=',
        'latch run --lost-si' => 'latch run --lost-signal=',
        'latch run --lost-signal=K' => 'latch run --lost-signal=KILL ',
        'latch run --keep-alive --no' => 'latch run --keep-alive --no',
        "latch run --store=flock://$directory/loc" => "latch run --store=flock://$directory/locks/",
        'latch status --st' => 'latch status --store=',
        'latch run job --qu' => 'latch run job --quiet ',
        'latch run job -- readonl' => 'latch run job -- readonly ',
        'latch run --wait job -- cat logs/../lock' => 'latch run --wait job -- cat logs/../locks/',
        'latch help sta' => 'latch help status ',
        'latch rel' => 'latch release ',
        'latch release --for' => 'latch release --force ',
        'latch list --al' => 'latch list --all ',
        'latch status --form' => 'latch status --format=',
        'latch doctor --form' => 'latch doctor --format=',
        'latch doctor --format=js' => 'latch doctor --format=json ',
        "latch doctor --store=flock://$directory/loc" => "latch doctor --store=flock://$directory/locks/",
        "latch doctor --store=shm://$directory/loc" => "latch doctor --store=shm://$directory/locks/",
    ] as $line => $expected) {
        check_same($expected, zsh_completes($line), "zsh: $line");
    }
}
echo "done\n";
--EXPECT--
done
