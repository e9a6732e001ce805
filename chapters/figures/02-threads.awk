# Three blocks of four threads over ten elements: index, and the guard.
BEGIN {
    n = 10; per = 4; w = 52; x0 = 30
    open_svg(690, 230, "Three blocks of four threads on ten elements", \
             "Twelve threads in three blocks. Thread t of block b takes element " \
             "4 b + t. The last two threads of block 2 have no element and do " \
             "nothing; they are hatched.")
    for (b = 0; b < 3; b++) {
        bx = x0 + b * (per * w + 8)
        box(bx - 3, 30, per * w + 4, 62, "none", "#000")
        text(bx + per * w / 2, 22, "block " b)
        for (t = 0; t < per; t++) {
            i = b * per + t
            x = bx + t * w
            box(x, 40, w - 2, 42, i < n ? "#fff" : "hatch", "#000")
            text(x + w / 2 - 1, 66, "t = " t)
            if (i < n) {
                arrow(x + w / 2 - 1, 84, x0 + i * (w + 2) + w / 2 - 1, 148)
            } else {
                line(x + w / 2 - 1, 84, x + w / 2 - 1, 112, 1)
                text(x + w / 2 - 1, 128, "&#x2715;")
            }
        }
    }
    for (i = 0; i < n; i++) {
        x = x0 + i * (w + 2)
        box(x, 150, w - 2, 34, "#fff", "#000")
        text(x + w / 2 - 1, 172, i)
    }
    text(x0, 212, "n = 10: element = block number x 4 + t, if that is less than n",
         "start")
    close_svg()
}
