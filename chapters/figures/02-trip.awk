# The whole trip: host memory, PCIe, GPU memory, SMs, with their speeds apart.
BEGIN {
    open_svg(690, 230, "The whole trip of a vector addition", \
             "Host memory on the left, GPU memory in the middle, SMs on the right. " \
             "Two vectors go over the narrow road to the GPU, the kernel reads and " \
             "writes GPU memory over a wide one, the sum comes back over the narrow " \
             "road.")
    box(20, 40, 150, 130, "#fff", "#000"); text(95, 32, "host memory")
    box(300, 40, 150, 130, "#fff", "#000"); text(375, 32, "GPU memory")
    box(560, 40, 110, 130, "hatch", "#000")
    box(578, 88, 74, 34, "#fff", "none"); text(615, 110, "SMs")
    split("a b c", v, " ")
    for (k = 1; k <= 3; k++) {
        y = 52 + (k - 1) * 40
        box(35, y, 120, 26, "#fff", "#000"); text(95, y + 18, v[k])
        box(315, y, 120, 26, "#fff", "#000"); text(375, y + 18, v[k])
    }
    arrow(157, 65, 312, 65); text(235, 58, "1 copy a", "middle", 12)
    arrow(157, 105, 312, 105); text(235, 98, "2 copy b", "middle", 12)
    arrow(312, 145, 157, 145); text(235, 138, "4 copy c back", "middle", 12)
    arrow(437, 61, 558, 61); arrow(437, 69, 558, 69)
    arrow(437, 101, 558, 101); arrow(437, 109, 558, 109)
    arrow(558, 141, 437, 141); arrow(558, 149, 437, 149)
    text(502, 130, "3 the kernel", "middle", 12)
    text(235, 205, "the bus: narrow"); text(505, 205, "GPU memory: wide")
    close_svg()
}
