// gpus: the GPUs of this machine and what they are doing, once or again every
// few seconds; and where there are none, what labs run on instead.
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "nvml.h"
#include "vgpu/model/model.h"

static int watch_s;

static const struct argp_option options[] = {
    {"watch", 'w', "SECONDS", OPTION_ARG_OPTIONAL,
     "Show again every second, or every SECONDS", 0},
    {"plain", 'p', 0, 0, "For scripts: a line of key=value pairs a GPU", 0},
    {0},
};
static int plain;

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    switch (key) {
    case 'w':
        watch_s = arg ? (int)strtol(arg, NULL, 10) : 1;
        if (watch_s < 1)
            argp_error(state, "--watch takes a number of seconds, not '%s'",
                       arg);
        return 0;
    case 'p':
        plain = 1;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char *mode_name(int mode)
{
    static const char *const names[] = {"default", "exclusive-thread",
                                        "prohibited", "exclusive-process"};
    return mode >= 0 && mode < 4 ? names[mode] : "unknown";
}

// For doctor.sh: one line a fact, "driver=..." first, then a line a GPU.
static void print_plain(const struct nvml_report *report)
{
    static const char *const states[] = {"ready", "no-library", "no-driver"};

    printf("state=%s\n", states[report->state]);
    if (report->state != NVML_READY) {
        printf("why=%s\n", report->why);
        return;
    }
    printf("driver=%s\ncuda=%d.%d\n", report->driver,
           report->cuda_version / 1000, report->cuda_version / 10 % 100);
    for (unsigned i = 0; i < report->ngpus; i++) {
        const struct nvml_gpu *gpu = &report->gpus[i];
        printf("gpu=%u capability=%d mode=%s mig=%d processes=%d busy=%d "
               "name=%s\n",
               i, gpu->capability, mode_name(gpu->compute_mode), gpu->mig,
               gpu->compute_processes, gpu->busy_percent, gpu->name);
    }
}

static void print_gpu(unsigned index, const struct nvml_gpu *gpu)
{
    const double GiB = 1024.0 * 1024 * 1024;

    printf("GPU %u  %-28s", index, gpu->name);
    if (gpu->capability)
        printf("  capability %d.%d", gpu->capability / 10,
               gpu->capability % 10);
    if (gpu->temperature_c >= 0)
        printf("  %d °C", gpu->temperature_c);
    if (gpu->busy_percent >= 0)
        printf("  %d %% busy", gpu->busy_percent);
    if (gpu->total_bytes)
        printf("  %.1f of %.1f GiB used", (double)gpu->used_bytes / GiB,
               (double)gpu->total_bytes / GiB);
    puts(gpu->mig ? "  MIG" : "");
}

// What the virtual GPU can be.
static void print_models(void)
{
    const struct gpu_model *gpu;

    puts("\nThe virtual GPU can be, with GPU= or --gpu:");
    for (unsigned i = 0; (gpu = gpu_at(i)); i++)
        printf("  %-10s %-28s  capability %u.%u  %3u SMs  %4.0f GB/s%s\n",
               gpu->key, gpu->name, gpu->capability / 10,
               gpu->capability % 10, gpu->sms, gpu->dram_gbs,
               gpu == gpu_default() ? "  (unless told)" : "");
}

static void print_report(const struct nvml_report *report)
{
    if (report->state != NVML_READY || report->ngpus == 0) {
        printf("No GPU can be used here: %s.\n",
               report->ngpus == 0 && report->state == NVML_READY
                   ? "the driver sees none"
                   : report->why);
        puts("Labs run all the same, on the virtual GPU: make grade LAB=01");
        print_models();
        return;
    }
    for (unsigned i = 0; i < report->ngpus; i++)
        print_gpu(i, &report->gpus[i]);
    printf("\nDriver %s runs CUDA up to %d.%d. NVIDIA's tool for the same:\n"
           "  nvidia-smi --query-gpu=index,name,temperature.gpu,"
           "utilization.gpu,memory.used,memory.total --format=csv\n"
           "  nvidia-smi dmon -s pum      (a line a second)\n",
           report->driver, report->cuda_version / 1000,
           report->cuda_version / 10 % 100);
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        options, parse_option, NULL,
        "Shows the GPUs of this machine: name, temperature, load, memory.",
        NULL, NULL, NULL};
    static struct nvml_report report;

    argp_parse(&argp, argc, argv, 0, NULL, NULL);
    for (;;) {
        nvml_read(&report);
        if (watch_s && isatty(STDOUT_FILENO))
            fputs("\033[H\033[2J", stdout);
        if (plain)
            print_plain(&report);
        else
            print_report(&report);
        fflush(stdout);
        if (!watch_s)
            return EXIT_SUCCESS;
        sleep((unsigned)watch_s);
    }
}
