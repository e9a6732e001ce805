#!/bin/sh
# make reset LAB=02: the starter back. What was there is kept in build/kept.
verb=reset
. autograder/tools/lab_name.sh
lab_name "$1"
for file in $files; do
    lab=labs/$slug/$file
    if build/bin/starter --check -o "$lab" "solutions/$slug/$file" 2>/dev/null
    then
        echo "$lab is the starter already."
        continue
    fi
    if [ -e "$lab" ]; then
        kept=build/kept/$slug/$(date +%Y%m%d-%H%M%S)-$file
        mkdir -p "build/kept/$slug" && cp "$lab" "$kept" || exit 3
        echo "Your file is kept as $kept"
    fi
    build/bin/starter -o "$lab" "solutions/$slug/$file" || exit 3
done
rm -f build/hints/"$slug"-*
