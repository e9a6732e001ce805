#!/bin/sh
# The book in one file. Usage: book.sh TARGET.pdf PAGES
#
# Each page becomes a piece of HTML, with anchors of its own; the pieces
# become one document, and WeasyPrint makes the PDF.
set -eu
target=$1 pages=$2
folder=$(dirname "$target")/pdf
rm -rf "$folder"
mkdir -p "$folder"
trap 'rm -rf "$folder"' EXIT

for page in $pages; do
    pandoc "$page" --from gfm+tex_math_dollars --to html5 \
        --lua-filter docs/site/page.lua -M "source=$page" -M mode=book \
        -M "pages=$pages" >>"$folder/body.html"
done
sed -e "/^BODY\$/{
r $folder/body.html
d
}" docs/site/book.html >"$folder/book.html"
cp docs/site/style.css docs/site/print.css "$folder"
for figures in chapters docs; do
    [ -d "$figures/figures" ] || continue
    mkdir -p "$folder/$figures"
    cp -R "$figures/figures" "$folder/$figures"
done
weasyprint --quiet "$folder/book.html" "$target"
