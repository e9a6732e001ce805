#!/bin/sh
# One page of the site. Usage: page.sh SOURCE.md TARGET.html PAGES
#
# PAGES are all pages in reading order; the ones before and after SOURCE are
# linked at its foot. Paths are relative to the repository's root.
set -eu
source=$1 target=$2 pages=$3

folder=$(dirname "$source")
case $folder in
.) root="" ;;
*) root=$(printf '%s' "$folder/" | sed 's|[^/]*/|../|g') ;;
esac

# The first heading of a page, without Markdown's marks.
title_of() { sed -n 's/^# *//p' "$1" | head -n 1 | tr -d '`*'; }

# Where a page lands, seen from the root of the site.
address_of() { printf '%s' "$1" | sed 's|README\.md$|index.md|; s|\.md$|.html|'; }

previous='' next='' last=''
for page in $pages; do
    [ "$last" = "$source" ] && next=$page
    [ "$page" = "$source" ] && previous=$last
    last=$page
done

set --
if [ -n "$previous" ]; then
    set -- "$@" -V "previous=$root$(address_of "$previous")" \
        -V "previoustitle=$(title_of "$previous")"
fi
if [ -n "$next" ]; then
    set -- "$@" -V "next=$root$(address_of "$next")" \
        -V "nexttitle=$(title_of "$next")"
fi
if [ "$(grep -c '^## ' "$source")" -ge 3 ]; then
    set -- "$@" --toc --toc-depth=2
fi

mkdir -p "$(dirname "$target")"
exec pandoc "$source" -o "$target" --from gfm+tex_math_dollars --to html5 \
    --mathml --template docs/site/page.html \
    --lua-filter docs/site/page.lua -M "source=$source" -M mode=site \
    -M "pages=$pages" -M lang=en -V "root=$root" "$@"
