# Shapes for the figures: awk -f svg.awk -f 02-threads.awk > 02-threads.svg
# Black on white, patterns instead of colours, so that they print anywhere.

function open_svg(w, h, title, desc) {
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" ", w, h
    printf "width=\"%d\" role=\"img\" aria-labelledby=\"t d\" ", w
    print "font-family=\"sans-serif\" font-size=\"14\">"
    print "<title id=\"t\">" title "</title>"
    print "<desc id=\"d\">" desc "</desc>"
    print "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" " \
          "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">" \
          "<path d=\"M0 0V6\" stroke=\"#000\" stroke-width=\"1\"/></pattern>"
    print "<marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" " \
          "markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">" \
          "<path d=\"M0 0L8 4L0 8z\"/></marker></defs>"
    box(0, 0, w, h, "#fff", "none")
}
function close_svg() { print "</svg>" }

# fill: a colour or "hatch"; stroke: a colour or "none"
function box(x, y, w, h, fill, stroke) {
    if (fill == "hatch")
        fill = "url(#hatch)"
    printf "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"%s\" " \
           "stroke=\"%s\"/>\n", x, y, w, h, fill, stroke
}
# anchor: start, middle or end
function text(x, y, s, anchor, size) {
    printf "<text x=\"%g\" y=\"%g\" text-anchor=\"%s\"%s>%s</text>\n", x, y,
           anchor ? anchor : "middle", size ? " font-size=\"" size "\"" : "", s
}
function arrow(x1, y1, x2, y2) {
    printf "<path d=\"M%g %gL%g %g\" stroke=\"#000\" fill=\"none\" " \
           "marker-end=\"url(#tip)\"/>\n", x1, y1, x2, y2
}
function line(x1, y1, x2, y2, dash) {
    printf "<path d=\"M%g %gL%g %g\" stroke=\"#000\" fill=\"none\"%s/>\n", x1, y1,
           x2, y2, dash ? " stroke-dasharray=\"4 3\"" : ""
}
