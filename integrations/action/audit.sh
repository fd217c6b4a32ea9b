#!/usr/bin/env bash
# Audit an agent as a step of continuous integration: action.yml calls this, and any other system can.
#
# Inputs are variables of the environment, so no text of theirs is ever a program:
#   AUDIT_AGENT, or AUDIT_ENDPOINT and AUDIT_MODEL   what is audited
#   AUDIT_GAMES, AUDIT_FAIL_IF                       one a line
#   AUDIT_DECISIONS, AUDIT_SEED, AUDIT_BUDGET        as the options of `stratagem audit`
#   AUDIT_PRICES                                     file with prices
#   AUDIT_BASELINE                                   card or folder of an earlier audit, to compare with
#   AUDIT_OUT                                        folder of the card and the records; an audit there goes on
#   AUDIT_API_KEY                                    KEY@HOST; where it is empty, STRATAGEM_API_KEY stays as it is
# The exit status is that of `stratagem audit`.
set -euo pipefail

refuse() {
    printf '%s\n' "$1" >&2
    exit 2
}

add_option() { # its name and its value; an empty value is left out
    [[ -z $2 ]] || words+=("$1" "$2")
}

add_lines() { # its name, and a text with one value a line
    local line
    while IFS= read -r line || [[ -n $line ]]; do
        line=${line#"${line%%[![:space:]]*}"}
        add_option "$1" "${line%"${line##*[![:space:]]}"}"
    done <<<"$2"
}

agent=${AUDIT_AGENT:-}
if [[ -n ${AUDIT_ENDPOINT:-}${AUDIT_MODEL:-} ]]; then
    [[ -z $agent ]] || refuse "Give an agent, or an endpoint and a model: both are given."
    [[ -n ${AUDIT_ENDPOINT:-} && -n ${AUDIT_MODEL:-} ]] || refuse "An endpoint needs the name of its model, and a model its endpoint."
    agent="api:$AUDIT_MODEL@$AUDIT_ENDPOINT"
fi
[[ -n $agent ]] || refuse "Give an agent, or an endpoint and a model."
out=${AUDIT_OUT:-audit}
[[ $out != *$'\n'* ]] || refuse "The folder of the audit has a line break in its name."
# Before the agent is asked: the audit may cost money, and comes before the comparison.
[[ -z ${AUDIT_BASELINE:-} || -e $AUDIT_BASELINE ]] || refuse "There is no baseline $AUDIT_BASELINE: name the card or the folder of an earlier audit, or none."
if [[ -n ${AUDIT_API_KEY:-} ]]; then
    export STRATAGEM_API_KEY=$AUDIT_API_KEY
fi
unset AUDIT_API_KEY

words=(audit --out "$out")
add_lines --games "${AUDIT_GAMES:-}"
add_lines --fail-if "${AUDIT_FAIL_IF:-}"
add_option --decisions "${AUDIT_DECISIONS:-}"
add_option --seed "${AUDIT_SEED:-}"
add_option --budget "${AUDIT_BUDGET:-}"
add_option --prices "${AUDIT_PRICES:-}"

# A reply that is printed may look like a command to the runner, which obeys none between these two lines.
token=
if [[ -n ${GITHUB_ACTIONS:-} ]]; then
    token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
    printf '::stop-commands::%s\n' "$token"
fi
rm -f "$out/card.md" "$out/junit.xml" # of an earlier audit, should this one end without a card
status=0
stratagem "${words[@]}" -- "$agent" || status=$?
summary=
if [[ -f $out/card.md ]]; then
    summary=$(<"$out/card.md")
else
    summary="The audit has no card: it ended with status $status, and the log has the reason."
fi
if [[ -n ${AUDIT_BASELINE:-} && -f $out/card.md ]]; then
    if changes=$(stratagem compare -- "$AUDIT_BASELINE" "$out" 2>&1); then
        # indented, since a name in another card could close a fence
        summary+=$'\n\n### Changes since the baseline\n\n    '${changes//$'\n'/$'\n    '}
    elif ((status == 0)); then
        status=2 # a baseline that cannot be read is a mistake
    fi
    printf '%s\n' "$changes"
fi
[[ -z $token ]] || printf '::%s::\n' "$token"

if [[ -n ${GITHUB_STEP_SUMMARY:-} ]]; then
    printf '%s\n' "$summary" >>"$GITHUB_STEP_SUMMARY"
fi
if [[ -n ${GITHUB_OUTPUT:-} ]]; then
    printf '%s\n' "folder=$out" "card=$out/card.json" "junit=$out/junit.xml" "status=$status" >>"$GITHUB_OUTPUT"
fi
exit "$status"
