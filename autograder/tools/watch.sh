#!/bin/sh
# make watch LAB=02: grades again whenever a file of the lab is saved.
# Ends with Ctrl-C. Usage: watch.sh LAB COMMAND..., the command that grades.
verb=watch
. autograder/tools/lab_name.sh
lab_name "$1"
shift
seen=
while :; do
    now=$(cd "labs/$slug" && cksum $files 2>&1)
    if [ "$now" != "$seen" ]; then
        seen=$now
        [ -t 1 ] && printf '\033[H\033[2J'
        "$@"
        echo "Waiting for you to save labs/$slug/$(echo $files). Ctrl-C ends."
    fi
    sleep 1
done
