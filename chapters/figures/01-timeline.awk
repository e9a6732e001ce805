# A launch returns at once: what the CPU and the GPU do when.
BEGIN {
    open_svg(690, 220, "A launch does not wait", \
             "Two time lines. The CPU launches a kernel and goes on at once; the GPU " \
             "starts it a little later and runs it for a long time. Reading the CPU " \
             "clock after the launch measures only the launch. Two events in the " \
             "queue of the GPU enclose the kernel.")
    text(20, 66, "CPU", "start"); line(70, 62, 670, 62)
    text(20, 146, "GPU", "start"); line(70, 142, 670, 142)
    box(110, 46, 50, 32, "#fff", "#000"); text(135, 67, "launch", "middle", 12)
    box(420, 46, 130, 32, "hatch", "#000")
    box(440, 53, 90, 18, "#fff", "none"); text(485, 67, "waits", "middle", 12)
    arrow(160, 78, 188, 124)
    box(190, 126, 340, 32, "#fff", "#000"); text(360, 147, "the kernel runs")
    line(190, 112, 190, 172, 1); text(190, 188, "event 1")
    line(530, 112, 530, 172, 1); text(530, 188, "event 2")
    line(108, 22, 162, 22); line(108, 18, 108, 26); line(162, 18, 162, 26)
    text(170, 27, "the wrong time", "start", 12)
    line(190, 204, 530, 204); line(190, 200, 190, 208); line(530, 200, 530, 208)
    text(360, 218, "the right time", "middle", 12)
    close_svg()
}
