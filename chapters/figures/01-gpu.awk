# A GPU from far: SMs with what each holds, L2, memory, and the host's road.
BEGIN {
    open_svg(690, 300, "A GPU and its memories", \
             "Several streaming multiprocessors, each with warps, registers and " \
             "shared memory, share one L2 cache and the GPU memory below it. The " \
             "host is connected by a bus. Farther down means larger and slower.")
    for (s = 0; s < 4; s++) {
        x = 20 + s * 125 + (s == 3 ? 25 : 0)
        box(x, 30, 115, 118, "#fff", "#000")
        text(x + 57, 22, s == 3 ? "SM n" : "SM " s)
        box(x + 8, 38, 99, 30, "hatch", "#000")
        box(x + 26, 44, 63, 18, "#fff", "none"); text(x + 57, 58, "warps")
        box(x + 8, 74, 99, 30, "#fff", "#000"); text(x + 57, 94, "registers")
        box(x + 8, 110, 99, 30, "#fff", "#000")
        text(x + 57, 130, "shared / L1", "middle", 13)
        line(x + 57, 148, x + 57, 170)
    }
    text(400, 95, "...")
    box(20, 170, 515, 36, "#fff", "#000"); text(277, 193, "L2 cache, one for all SMs")
    line(277, 206, 277, 226)
    box(20, 226, 515, 46, "#fff", "#000"); text(277, 254, "GPU memory (DRAM)")
    box(595, 226, 80, 46, "#fff", "#000"); text(635, 254, "host")
    line(535, 249, 595, 249); text(565, 242, "bus", "middle", 12)
    arrow(600, 40, 600, 200)
    text(612, 90, "larger", "start"); text(612, 110, "slower", "start")
    close_svg()
}
