#!/bin/sh
# make hint LAB=02 [TASK=1]: opens the next hint. Which ones are open is kept
# in build/hints; hints cost nothing. hints.md is `## Task n: title`, then
# `### ` and a title for each hint of that task.
verb=hint
. autograder/tools/lab_name.sh
lab_name "$1"
task=${2:-all}
case $task in
all | [1-9]) ;;
*) echo "make hint: TASK is a number" >&2 && exit 2 ;;
esac
hints=labs/$slug/hints.md state=build/hints/$slug-$task
[ -r "$hints" ] || { echo "make hint: no $hints" >&2 && exit 2; }
mkdir -p build/hints
open=$(cat "$state" 2>/dev/null)
case $open in
'' | *[!0-9]*) open=0 ;;
esac
awk -v wanted=$((open + 1)) -v task="$task" '
    /^## Task [1-9]/ { of = $3 + 0; heading = substr($0, 4); next }
    /^## /           { of = 0; next }
    /^### /          { ours = of && (task == "all" || of == task)
                       if (ours && ++n == wanted)
                           text = heading " - " substr($0, 5) "\n"
                       next }
    ours && n == wanted { text = text $0 "\n" }
    END {
        if (n == 0) { print "There are no hints for this task."; exit 3 }
        if (wanted > n) {
            printf "All %d hints are open. They stand in HINTS; the " \
                   "chapter has the idea behind them.\n", n
            exit 3
        }
        sub(/\n+$/, "", text)
        printf "Hint %d of %d. %s\n", wanted, n, text
        if (wanted < n) print "\nThe next one is there when you want it."
    }' "$hints" >"$state.text"
status=$?
sed "s|HINTS|$hints|" "$state.text"
rm -f "$state.text"
[ $status -eq 0 ] && echo $((open + 1)) >"$state"
exit 0
