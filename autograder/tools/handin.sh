#!/bin/sh
# make handin LAB=02: one archive of the files that are graded.
verb=handin
. autograder/tools/lab_name.sh
lab_name "$1"
archive=build/handin/$slug.tar.gz
mkdir -p build/handin
for file in $files; do
    if [ ! -r "labs/$slug/$file" ]; then
        echo "make handin: labs/$slug/$file is missing" >&2
        exit 3
    fi
    if grep -q '^ *TASK_NOT_DONE' "labs/$slug/$file"; then
        echo "Note: tasks are not done yet:"
        grep -n '^ *TASK_NOT_DONE' "labs/$slug/$file" |
            sed "s|^\([0-9]*\): *TASK_NOT_DONE(\(.\)).*|  task \2, labs/$slug/$file:\1|"
    fi
done
tar -C "labs/$slug" --owner=0 --group=0 -czf "$archive.new" $files || exit 3
mv "$archive.new" "$archive"
echo "Hand in $archive. It holds:"
tar -tzf "$archive" | sed 's/^/  /'
