#!/bin/sh
# Usage: autograder/setup/lab.sh VERB LAB. Fails, with the labs that there
# are, when LAB (01, or 01-device-query) names none of them.
verb=$1 lab=$2
for folder in labs/[0-9][0-9]-*/; do
    slug=${folder#labs/} slug=${slug%/}
    case $lab in
    "$slug" | "${slug%%-*}") exit 0 ;;
    esac
done
if [ -z "$lab" ]; then
    echo "make $verb: which lab? Say for example: make $verb LAB=02" >&2
else
    echo "make $verb: there is no lab '$lab'" >&2
fi
echo "The labs are:" >&2
for folder in labs/[0-9][0-9]-*/; do
    slug=${folder#labs/} slug=${slug%/}
    [ -d "$folder" ] && echo "  LAB=${slug%%-*}  ${slug#*-}" >&2
done
exit 2
