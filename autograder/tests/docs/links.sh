#!/bin/sh
# Usage: links.sh SITE. Prints every link and image of a site's pages that
# leads nowhere within it, as "page: target"; exit status 1 when there is one.
# Addresses of other sites are not followed.
cd "$1" || exit 2
find . -name '*.html' | sort | while read -r page; do
    folder=${page%/*}
    grep -oE '(href|src)="[^"]*"' "$page" | sed 's/^[a-z]*="//; s/"$//' |
        sort -u | while read -r target; do
        case $target in
        [a-z]*:*) continue ;;
        esac
        file=${target%%#*} anchor=''
        case $target in *'#'*) anchor=${target#*#} ;; esac
        if [ -n "$file" ]; then file=$folder/$file; else file=$page; fi
        if ! [ -f "$file" ]; then
            echo "$page: $target"
        elif [ -n "$anchor" ] && ! grep -q "id=\"$anchor\"" "$file"; then
            echo "$page: $target"
        fi
    done
done >"${TMPDIR:-/tmp}/links.$$"
sort "${TMPDIR:-/tmp}/links.$$"
status=0
[ -s "${TMPDIR:-/tmp}/links.$$" ] && status=1
rm -f "${TMPDIR:-/tmp}/links.$$"
exit $status
