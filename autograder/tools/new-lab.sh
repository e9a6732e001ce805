#!/bin/sh
# make new-lab NAME=histogram: the next lab, filled from template/ with a
# small problem, so that it passes check-course from the start.
name=$1
case $name in
'') echo "make new-lab: which name? Say for example: make new-lab NAME=histogram" >&2
    exit 2 ;;
[!a-z]* | *[!a-z0-9-]* | *-)
    echo "make new-lab: a name begins with a letter, goes on with lower-case letters, digits and dashes, and gets its number here: not '$name'" >&2
    exit 2 ;;
esac
if [ ${#name} -gt 40 ]; then
    echo "make new-lab: at most 40 letters" >&2
    exit 2
fi
for folder in labs/[0-9][0-9]-"$name"; do
    [ -d "$folder" ] && echo "make new-lab: there is $folder already" >&2 && exit 2
done
last=$(ls -d labs/[0-9][0-9]-* 2>/dev/null | sed 's|labs/\(..\)-.*|\1|' | sort -n | tail -n 1)
number=$(printf '%02d' $((${last#0} + 1)))
slug=$number-$name
stem=$(echo "$name" | tr - _)
title=$(echo "$name" | tr - ' ' | awk '{print toupper(substr($0, 1, 1)) substr($0, 2)}')
template=${TEMPLATE:-autograder/tools/template}
for top in labs solutions chapters; do
    (cd "$template" && find $top -type f) || exit 3
done | while read -r file; do
    to=$(echo "$file" | sed "s|SLUG|$slug|g; s|STEM|$stem|g")
    mkdir -p "$(dirname "$to")"
    sed "s|@SLUG@|$slug|g; s|@NUMBER@|$number|g; s|@STEM@|$stem|g; s|@TITLE@|$title|g" \
        "$template/$file" >"$to" || exit 3
done || exit 3
build/bin/starter -o "labs/$slug/$stem.cu" "solutions/$slug/$stem.cu" || exit 3
echo "Made labs/$slug, solutions/$slug and chapters/$slug.md."
echo "See what is to be changed in docs/adding-a-lab.md, then: make check-course LAB=$number"
