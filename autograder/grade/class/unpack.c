// Archives are hostile until shown otherwise: they are taken apart by a
// process of its own, in the folder that they may fill, with limits on time,
// entries and bytes. libarchive refuses paths that lead out of it.
#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "class.h"

enum { MAX_ENTRIES = 1000, MAX_BYTES = 16 << 20, MAX_SECONDS = 20 };

static int copy_data(struct archive *in, struct archive *out, size_t *total,
                     char *message)
{
    const void *block;
    size_t n;
    la_int64_t offset;
    int status;

    while ((status = archive_read_data_block(in, &block, &n, &offset)) ==
           ARCHIVE_OK) {
        if (n > MAX_BYTES - *total || offset > MAX_BYTES) {
            snprintf(message, CLASS_MESSAGE,
                     "the archive unpacks to more than %d MiB",
                     MAX_BYTES >> 20);
            return -1;
        }
        *total += n;
        if (archive_write_data_block(out, block, n, offset) < ARCHIVE_OK) {
            snprintf(message, CLASS_MESSAGE, "%s", archive_error_string(out));
            return -1;
        }
    }
    if (status != ARCHIVE_EOF) {
        snprintf(message, CLASS_MESSAGE, "%s", archive_error_string(in));
        return -1;
    }
    return 0;
}

// One entry: files and folders are written, anything else is refused.
static int unpack_entry(struct archive *in, struct archive *out,
                        struct archive_entry *entry, size_t *total,
                        char *message)
{
    mode_t type = archive_entry_filetype(entry);

    if ((type != AE_IFREG && type != AE_IFDIR) ||
        archive_entry_hardlink(entry)) {
        snprintf(message, CLASS_MESSAGE,
                 "the archive holds a link or a special file");
        return -1;
    }
    archive_entry_set_perm(entry, type == AE_IFDIR ? 0700 : 0600);
    if (archive_write_header(out, entry) < ARCHIVE_OK) {
        snprintf(message, CLASS_MESSAGE, "%s", archive_error_string(out));
        return -1;
    }
    return type == AE_IFREG ? copy_data(in, out, total, message) : 0;
}

// In the child: unpacks into the working directory.
static int unpack_here(const char *path, char *message)
{
    struct archive *in = archive_read_new(), *out = archive_write_disk_new();
    struct archive_entry *entry;
    size_t total = 0;
    int entries = 0, status;

    archive_read_support_filter_gzip(in);
    archive_read_support_format_zip(in);
    archive_read_support_format_tar(in);
    archive_write_disk_set_options(out, ARCHIVE_EXTRACT_SECURE_SYMLINKS |
                                            ARCHIVE_EXTRACT_SECURE_NODOTDOT |
                                            ARCHIVE_EXTRACT_SECURE_NOABSOLUTEPATHS);
    if (archive_read_open_filename(in, path, 1 << 16) != ARCHIVE_OK) {
        snprintf(message, CLASS_MESSAGE, "%s", archive_error_string(in));
        return -1;
    }
    while ((status = archive_read_next_header(in, &entry)) == ARCHIVE_OK ||
           status == ARCHIVE_WARN) {
        if (++entries > MAX_ENTRIES) {
            snprintf(message, CLASS_MESSAGE,
                     "the archive holds more than %d files", MAX_ENTRIES);
            return -1;
        }
        if (unpack_entry(in, out, entry, &total, message) != 0)
            return -1;
    }
    if (status != ARCHIVE_EOF) {
        snprintf(message, CLASS_MESSAGE, "%s", archive_error_string(in));
        return -1;
    }
    if (archive_write_close(out) != ARCHIVE_OK) {
        snprintf(message, CLASS_MESSAGE, "%s", archive_error_string(out));
        return -1;
    }
    return 0;
}

// The child's whole life. Its message travels back through `pipe_fd`.
static void unpacker(const char *archive, const char *folder, int pipe_fd)
{
    char message[CLASS_MESSAGE] = "";
    struct rlimit bytes = {MAX_BYTES, MAX_BYTES};

    alarm(MAX_SECONDS);
    setrlimit(RLIMIT_FSIZE, &bytes);
    int status = chdir(folder);
    if (status == 0)
        status = unpack_here(archive, message);
    if (status != 0 && write(pipe_fd, message, strlen(message)) < 0)
        _exit(2);
    _exit(status == 0 ? 0 : 1);
}

int unpack(const char *archive, const char *folder,
           char message[CLASS_MESSAGE])
{
    int fds[2], status = -1;
    char said[CLASS_MESSAGE / 2] = "";

    if (pipe(fds) != 0) {
        snprintf(message, CLASS_MESSAGE, "pipe: %s", strerror(errno));
        return -1;
    }
    pid_t pid = fork();
    if (pid == 0)
        unpacker(archive, folder, fds[1]);
    close(fds[1]);
    if (pid > 0) {
        ssize_t n = read(fds[0], said, sizeof said - 1);
        said[n > 0 ? n : 0] = '\0';
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            continue;
    }
    close(fds[0]);
    if (status == 0)
        return 0;
    char *clean = text_clean(said);
    snprintf(message, CLASS_MESSAGE, "cannot be unpacked: %s",
             *clean ? clean : "it took too long or too much");
    free(clean);
    return -1;
}

char *unpacked_root(const char *folder)
{
    char *only = NULL;
    unsigned entries = 0;
    DIR *dir = opendir(folder);

    if (dir) {
        for (struct dirent *entry; (entry = readdir(dir));) {
            // macOS adds a folder of its own to what it zips.
            if (entry->d_name[0] == '.' ||
                strcmp(entry->d_name, "__MACOSX") == 0)
                continue;
            free(only);
            only = text_format("%s/%s", folder, entry->d_name);
            entries++;
        }
        closedir(dir);
    }
    struct stat st;
    if (entries == 1 && lstat(only, &st) == 0 && S_ISDIR(st.st_mode))
        return only;
    free(only);
    return text_format("%s", folder);
}

static int remove_one(const char *path, const struct stat *st, int kind,
                      struct FTW *at)
{
    remove(path);
    return 0;
}

void remove_tree(const char *folder)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
