#!/bin/sh
# Stands in for `grade lab` in tests of class runs: grades a submission by the
# words in it and writes the JSON that `grade lab --json` writes.
#
#   SCORE n     the score          SLEEP n     takes n seconds
#   CRASH       dies               REFUSE      cannot grade it
#   BROKEN      does not compile   NAKED       isolation "none"
#   HALF        writes half a result
while [ $# -gt 0 ]; do
    case $1 in
    --submission) submission=$2; shift ;;
    --json) json=$2; shift ;;
    esac
    shift
done
words=$(cat "$submission" "$submission"/* 2>/dev/null)
value() { printf '%s\n' "$words" | sed -n "s/.*$1 \([0-9.]*\).*/\1/p" | head -n 1; }
[ -n "${FAKE_LOG:-}" ] && echo "$submission" >>"$FAKE_LOG"
sleep "$(value SLEEP | grep . || echo 0)"
isolation=namespaces status=graded score=$(value SCORE)
case $words in
*CRASH*) echo "went wrong here"; kill -SEGV $$ ;;
*HALF*) printf '{"lab": "02-vector-add", "score"' >"$json"; exit 0 ;;
*REFUSE*) printf '{"status": "not_graded", "reason": "the GPU is busy"}' >"$json"; exit 3 ;;
*BROKEN*) status=compile_error ;;
*NAKED*) isolation=none ;;
esac
cat >"$json" <<END
{"lab": "02-vector-add", "target": "virtual", "gpu": "H200", "modelled": true,
 "isolation": "$isolation", "score": ${score:-0}, "max_score": 100,
 "status": "$status", "tests": []}
END
exit 1
