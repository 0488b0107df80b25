# Completion of latch's arguments for bash. Goes where bash-completion looks for it under the
# command's name, /usr/share/bash-completion/completions/latch for all users, or is sourced from
# ~/.bashrc.
# shellcheck shell=bash

_latch() {
    local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} at
    local -A options=(
        [run]='--store= --wait --wait= --slots= --shared --conflict-exit-code= --quiet --ttl= --keep-alive --no-keep-alive
            --lost-signal= --lost-grace= --lost-exit-code= --max-hold= --help -w -n -E'
        [status]='--store= --format=json --help'
        [list]='--store= --all --format=json --help'
        [release]='--store= --force --yes --help'
        [doctor]='--store= --vendor= --format=json --help'
    )
    COMPREPLY=()

    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W 'run status list release doctor help --help --version' -- "$current")
        return
    fi
    if [[ $command == help ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'run status list release doctor' -- "$current")
        return
    fi
    [[ -n ${options[$command]:-} ]] || return 0

    for ((at = 2; at < COMP_CWORD; at++)); do
        [[ ${COMP_WORDS[at]} == -- ]] || continue
        # Behind it stands the command, or, if there was no resource yet, that and one more "--".
        if [[ $at == 2 || ${COMP_WORDS[at - 1]} == -* ]]; then
            [[ ${COMP_WORDS[at + 2]:-} == -- ]] && ((at + 2 < COMP_CWORD)) || return 0
            ((at += 2))
        fi
        _latch_command "$((at + 1))"
        return
    done

    # The word as it was typed: bash takes "--store=flock:///x" apart at each "=" and ":".
    local word=$current
    for ((at = COMP_CWORD; at > 2; at--)); do
        [[ $word == [=:]* || ${COMP_WORDS[at - 1]} == [=:] ]] || break
        word=${COMP_WORDS[at - 1]}$word
    done
    case $word in
        --store=*) _latch_store "${word#--store=}" ;;
        --vendor=*)
            mapfile -t COMPREPLY < <(compgen -d -S / -- "${word#--vendor=}")
            compopt -o nospace 2> /dev/null
            ;;
        --*=*) ;;
        -*)
            mapfile -t COMPREPLY < <(compgen -W "${options[$command]}" -- "$word")
            [[ ${COMPREPLY[0]:-} != *= ]] || compopt -o nospace 2> /dev/null
            ;;
        *)
            if [[ ${COMP_WORDS[at - 1]} == --store ]]; then
                _latch_store "$word"
            fi
            ;;
    esac
}

# _latch_command AT: the command begins with the word of that number.
_latch_command() {
    [[ ${COMP_WORDS[1]} == run ]] || return 0
    if declare -F _command_offset > /dev/null; then # of bash-completion: by the command's own rules
        _command_offset "$1"
    elif ((COMP_CWORD == $1)); then
        mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
    else
        compopt -o default 2> /dev/null
    fi
}

# _latch_store TEXT: the DSN that begins so.
_latch_store() {
    local text=$1 current=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]#\\} dsns
    program=${program/#\~\//$HOME/} # the word stands there as it was typed
    if [[ $text == flock*://* ]]; then
        mapfile -t dsns < <(compgen -d -P "${text%%://*}://" -S / -- "${text#*://}")
    elif [[ $text == shm://* ]]; then
        mapfile -t dsns < <(compgen -f -P shm:// -- "${text#*://}")
    else
        mapfile -t dsns < <(compgen -W "$("$program" completion --stores 2> /dev/null | cut -f 1)" -- "$text")
    fi
    # Only what stands behind the last "=" or ":" is replaced.
    [[ $current != [=:] ]] || current=
    COMPREPLY=("${dsns[@]#"${text%"$current"}"}")
    compopt -o nospace 2> /dev/null
}

complete -F _latch latch
