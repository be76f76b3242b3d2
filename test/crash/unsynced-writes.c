/*
 * Keeps what a power cut could still take from a store. Preloaded into an agent, it notes the old content of each
 * write to the files of the store, in a journal for each file, and empties that journal when the file is synced.
 * `power-cut.ts` reads the journals of a killed agent.
 *
 * The process kills itself after as many writes as the file `armed` beside the journals says.
 *
 * An entry of a journal, in the byte order of the machine: offset and size of the file before the write (64 bits each),
 * length of the write and number of old bytes (32 bits each), the old bytes.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES 4096
#define ENTRY 24

static ssize_t (*real_pwrite)(int, const void *, size_t, off64_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Of each descriptor that was written to or synced. */
static struct {
  dev_t device;
  ino_t inode;
  /* -1: the file is none of the store. */
  int journal;
  /* The same file, open to be read. */
  int reader;
} known[FILES];

__attribute__((constructor)) static void find_real(void) {
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
}

/* Descriptors are closed and taken again behind our back, so each call looks at which file it has. */
static int journal_of(int file) {
  struct stat found;
  if (file < 0 || file >= FILES || fstat(file, &found) != 0) return -1;
  if (known[file].device == found.st_dev && known[file].inode == found.st_ino) return known[file].journal;
  if (known[file].inode != 0 && known[file].journal >= 0) {
    close(known[file].journal);
    close(known[file].reader);
  }
  known[file].device = found.st_dev;
  known[file].inode = found.st_ino;
  known[file].journal = -1;
  const char *directory = getenv("UNSYNCED_JOURNALS");
  char link[64], path[4096], journal[4200];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (directory == NULL || length < 0) return -1;
  path[length] = 0;
  /* The index of the log, `state.db-shm`, is made anew after each start. */
  if (strstr(path, "/server/state.") == NULL || strstr(path, "-shm") != NULL) return -1;
  snprintf(journal, sizeof journal, "%s/%llu", directory, (unsigned long long)found.st_ino);
  known[file].reader = open(link, O_RDONLY | O_CLOEXEC);
  known[file].journal = open(journal, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  return known[file].journal;
}

static void note(int file, size_t length, off64_t offset) {
  struct stat found;
  if (fstat(file, &found) != 0) abort();
  char *entry = malloc(ENTRY + length);
  ssize_t old = pread64(known[file].reader, entry + ENTRY, length, offset);
  if (old < 0) abort();
  int64_t at = offset, size = found.st_size;
  uint32_t whole = length, kept = old;
  memcpy(entry, &at, 8);
  memcpy(entry + 8, &size, 8);
  memcpy(entry + 16, &whole, 4);
  memcpy(entry + 20, &kept, 4);
  if (write(known[file].journal, entry, ENTRY + old) != ENTRY + old) abort();
  free(entry);
}

static void kill_if_due(void) {
  static long left = 0;
  static char path[4096];
  if (left == 0) {
    char text[32] = "";
    const char *directory = getenv("UNSYNCED_JOURNALS");
    snprintf(path, sizeof path, "%s/armed", directory);
    int armed = open(path, O_RDONLY | O_CLOEXEC);
    if (armed < 0) return;
    if (read(armed, text, sizeof text - 1) < 0) abort();
    close(armed);
    left = atol(text);
  }
  if (--left == 0) kill(getpid(), SIGKILL);
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t offset) {
  pthread_mutex_lock(&lock);
  int isOfStore = journal_of(file) >= 0;
  if (isOfStore) note(file, length, offset);
  ssize_t written = real_pwrite(file, bytes, length, offset);
  if (isOfStore) kill_if_due();
  pthread_mutex_unlock(&lock);
  return written;
}

static int synced(int file, int (*sync)(int)) {
  int failed = sync(file);
  pthread_mutex_lock(&lock);
  int journal = journal_of(file);
  /* With UNSYNCED_LIES the disk says that it has synced, and has not. */
  if (failed == 0 && journal >= 0 && getenv("UNSYNCED_LIES") == NULL && ftruncate(journal, 0) != 0) abort();
  pthread_mutex_unlock(&lock);
  return failed;
}

int fsync(int file) { return synced(file, real_fsync); }

int fdatasync(int file) { return synced(file, real_fdatasync); }
