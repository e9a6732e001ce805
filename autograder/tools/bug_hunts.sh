#!/bin/sh
# Usage: bug_hunts.sh LAB...: each lab's bug hunt must be a program in which
# the checker finds a fault (exit status 86), with a source line of its own.
status=0
for lab in "$@"; do
    for folder in labs/"$lab"/ labs/"$lab"-*/; do
        [ -d "$folder" ] || continue
        slug=$(basename "$folder")
        out=$(timeout 60 build/bin/vgpu-run --check "build/labs/$slug/bug_hunt" 2>&1)
        if [ $? -ne 86 ] || ! echo "$out" | grep -q 'bug_hunt\.cu'; then
            echo "labs/$slug/bug_hunt.cu: the checker does not name a fault in it:"
            echo "$out" | head -n 20
            status=1
        fi
    done
done
exit $status
