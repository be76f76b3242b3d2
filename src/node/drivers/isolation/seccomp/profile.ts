/**
 * The system calls that a task in a sandbox may make, similar to the profiles of container
 * runtimes. Calls that are not allowed here are refused. Every call with a known name is in one
 * group.
 */

/** The fate of a call: it is made, or fails as not permitted, or as unknown. */
export type Verdict = 'allowed' | 'refused' | 'unknown';

/** For calls whose verdict depends on an argument. The filter looks at its lower 32 bits. */
export interface ArgumentRule {
  readonly argument: number;
  /** The allowed values: these, all but these, or all with none of these bits. */
  readonly allowed:
    | { readonly values: readonly number[] }
    | { readonly allBut: readonly number[] }
    | { readonly noneOf: number };
  readonly errno: number;
}

export interface CallGroup {
  readonly reason: string;
  readonly verdict: Verdict;
  readonly calls: string;
  /** Capabilities: a task with one of them is allowed these calls, whatever the verdict. */
  readonly unless?: readonly string[];
  /** Restricts allowed calls. */
  readonly only?: ArgumentRule;
}

export const errors = { EPERM: 1, ENOSYS: 38, EAFNOSUPPORT: 97 } as const;

/** CLONE_NEWNS, _NEWCGROUP, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET. */
const newNamespaces = 0x7e020000;

/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET. */
const families = [1, 2, 10, 16, 17];

/** TIOCSTI inserts input into a terminal as if it were typed, TIOCLINUX pastes it. */
const typing = [0x5412, 0x541c];

/** PER_LINUX, UNAME26, PER_LINUX with ADDR_NO_RANDOMIZE, both, and the query. */
const personalities = [0x0, 0x8, 0x20000, 0x20008, 0xffffffff];

export const profile: readonly CallGroup[] = [
  {
    reason: 'Files: the kernel checks permissions; files cannot be opened by their handles',
    verdict: 'allowed',
    calls:
      'access chdir chmod chown close close_range copy_file_range creat dup dup2 dup3 faccessat ' +
      'faccessat2 fadvise64 fallocate fchdir fchmod fchmodat fchmodat2 fchown fchownat fcntl ' +
      'fdatasync fgetxattr flistxattr flock fremovexattr fsetxattr fstat fstatfs fsync ftruncate ' +
      'futimesat getcwd getdents getdents64 getxattr getxattrat inotify_add_watch inotify_init ' +
      'inotify_init1 inotify_rm_watch fanotify_mark lchown lgetxattr link linkat listxattr ' +
      'listxattrat llistxattr lremovexattr lseek lsetxattr lstat mkdir mkdirat mknod mknodat ' +
      'name_to_handle_at newfstatat open openat openat2 pread64 preadv preadv2 pwrite64 pwritev ' +
      'pwritev2 read readahead readlink readlinkat readv removexattr removexattrat rename ' +
      'renameat renameat2 rmdir sendfile setxattr setxattrat splice stat statfs statx symlink ' +
      'symlinkat sync sync_file_range syncfs tee truncate umask unlink unlinkat utime utimensat ' +
      'utimes write writev',
  },
  {
    reason: 'Devices, except inserting input into a terminal, which somebody else may read',
    verdict: 'allowed',
    calls: 'ioctl',
    unless: ['sys_admin'],
    only: { argument: 1, allowed: { allBut: typing }, errno: errors.EPERM },
  },
  {
    reason: 'Waiting, pipes, timers and clocks',
    verdict: 'allowed',
    calls:
      'adjtimex alarm clock_adjtime clock_getres clock_gettime clock_nanosleep epoll_create ' +
      'epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 futex ' +
      'futex_requeue futex_wait futex_waitv futex_wake get_robust_list getitimer gettimeofday ' +
      'io_cancel io_destroy io_getevents io_pgetevents io_setup io_submit nanosleep pause pipe ' +
      'pipe2 poll ppoll pselect6 restart_syscall select set_robust_list setitimer signalfd ' +
      'signalfd4 time timer_create timer_delete timer_getoverrun timer_gettime timer_settime ' +
      'timerfd_create timerfd_gettime timerfd_settime times',
  },
  {
    reason: 'Memory, also shared memory',
    verdict: 'allowed',
    calls:
      'brk get_mempolicy madvise map_shadow_stack mbind membarrier memfd_create memfd_secret ' +
      'mincore mlock mlock2 mlockall mmap mprotect mq_getsetattr mq_notify mq_open ' +
      'mq_timedreceive mq_timedsend mq_unlink mremap mseal msgctl msgget msgrcv msgsnd msync ' +
      'munlock munlockall munmap pkey_alloc pkey_free pkey_mprotect remap_file_pages semctl ' +
      'semget semop semtimedop set_mempolicy shmat shmctl shmdt shmget cachestat',
  },
  {
    reason: 'Processes, threads and their users: no program can gain rights',
    verdict: 'allowed',
    calls:
      'arch_prctl capget capset execve execveat exit exit_group fork get_thread_area getcpu ' +
      'getegid geteuid getgid getgroups getpgid getpgrp getpid getppid getpriority getrandom ' +
      'getresgid getresuid getrlimit getrusage getsid gettid getuid ioprio_get ioprio_set kill ' +
      'modify_ldt pidfd_open pidfd_send_signal prctl prlimit64 process_mrelease rseq ' +
      'rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend ' +
      'rt_sigtimedwait rt_tgsigqueueinfo sched_get_priority_max sched_get_priority_min ' +
      'sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval ' +
      'sched_setaffinity sched_setattr sched_setparam sched_setscheduler sched_yield ' +
      'set_thread_area set_tid_address setfsgid setfsuid setgid setgroups setpgid setpriority ' +
      'setregid setresgid setresuid setreuid setrlimit setsid setuid sigaltstack sysinfo tgkill ' +
      'tkill uname vfork wait4 waitid',
  },
  {
    reason: 'Programs that restrict themselves or their children',
    verdict: 'allowed',
    calls:
      'landlock_add_rule landlock_create_ruleset landlock_restrict_self listmount ' +
      'lsm_get_self_attr lsm_list_modules seccomp statmount',
  },
  {
    // Since Linux 4.8 the filter is asked again about a call that a tracer has changed.
    reason: 'Debuggers: the kernel allows access only to processes with no more rights',
    verdict: 'allowed',
    calls: 'process_vm_readv process_vm_writev ptrace',
  },
  {
    reason: 'Communication over existing sockets',
    verdict: 'allowed',
    calls:
      'accept accept4 bind connect getpeername getsockname getsockopt listen recvfrom recvmmsg ' +
      'recvmsg sendmmsg sendmsg sendto setsockopt shutdown',
  },
  {
    reason: 'Rare protocols: opening a socket loads their modules, which are little reviewed',
    verdict: 'allowed',
    calls: 'socket socketpair',
    only: { argument: 0, allowed: { values: families }, errno: errors.EAFNOSUPPORT },
  },
  {
    reason: 'Other personalities switch off protections against attacks',
    verdict: 'allowed',
    calls: 'personality',
    only: { argument: 0, allowed: { values: personalities }, errno: errors.EPERM },
  },
  {
    reason: 'New namespaces expose more of the kernel, user namespaces above all',
    verdict: 'allowed',
    calls: 'clone',
    unless: ['sys_admin'],
    only: { argument: 0, allowed: { noneOf: newNamespaces }, errno: errors.EPERM },
  },
  {
    reason:
      'The flags of clone3 are in memory, which a filter cannot read: programs then use clone',
    verdict: 'unknown',
    calls: 'clone3',
    unless: ['sys_admin'],
  },
  {
    reason: 'Namespaces, mounts, quotas, names and swap of the machine',
    verdict: 'refused',
    calls:
      'fanotify_init fsconfig fsmount fsopen fspick lookup_dcookie mount mount_setattr move_mount ' +
      'open_tree pivot_root quotactl quotactl_fd setdomainname sethostname setns swapoff swapon ' +
      'umount2 unshare',
    unless: ['sys_admin'],
  },
  {
    reason: 'Programs in the kernel',
    verdict: 'refused',
    calls: 'bpf',
    unless: ['bpf', 'sys_admin'],
  },
  {
    reason: 'Performance counters reveal other processes, and their code had many holes',
    verdict: 'refused',
    calls: 'perf_event_open',
    unless: ['perfmon', 'sys_admin'],
  },
  { reason: 'The root directory', verdict: 'refused', calls: 'chroot', unless: ['sys_chroot'] },
  {
    reason: 'Kernel modules',
    verdict: 'refused',
    calls: 'delete_module finit_module init_module',
    unless: ['sys_module'],
  },
  {
    reason: 'Restarts, and other kernels',
    verdict: 'refused',
    calls: 'kexec_file_load kexec_load reboot',
    unless: ['sys_boot'],
  },
  {
    reason: 'The clock of the machine',
    verdict: 'refused',
    calls: 'clock_settime settimeofday',
    unless: ['sys_time'],
  },
  {
    reason: 'I/O ports',
    verdict: 'refused',
    calls: 'ioperm iopl',
    unless: ['sys_rawio'],
  },
  {
    reason: 'Process accounting',
    verdict: 'refused',
    calls: 'acct',
    unless: ['sys_pacct'],
  },
  {
    reason: 'Hanging up a terminal',
    verdict: 'refused',
    calls: 'vhangup',
    unless: ['sys_tty_config'],
  },
  {
    reason: 'The log of the kernel',
    verdict: 'refused',
    calls: 'syslog',
    unless: ['syslog'],
  },
  {
    reason: 'Files by handle, beyond the directories that the task sees',
    verdict: 'refused',
    calls: 'open_by_handle_at',
    unless: ['dac_read_search'],
  },
  {
    reason: 'Descriptors and memory of other processes',
    verdict: 'refused',
    calls: 'kcmp pidfd_getfd process_madvise',
    unless: ['sys_ptrace'],
  },
  {
    reason: 'Memory pages of other processes',
    verdict: 'refused',
    calls: 'migrate_pages move_pages set_mempolicy_home_node',
    unless: ['sys_nice'],
  },
  {
    reason: 'Keys of the kernel, which no namespace separates',
    verdict: 'refused',
    calls: 'add_key keyctl request_key',
  },
  {
    reason: 'Calls of io_uring bypass this filter',
    verdict: 'refused',
    calls: 'io_uring_enter io_uring_register io_uring_setup',
  },
  {
    reason: 'They can stop the kernel in the middle of its work, which helps attacks',
    verdict: 'refused',
    calls: 'userfaultfd vmsplice',
  },
  {
    reason: 'Obsolete',
    verdict: 'refused',
    calls: 'lsm_set_self_attr sysfs uselib ustat',
  },
  {
    reason: 'Numbers that kernels no longer implement',
    verdict: 'unknown',
    calls:
      '_sysctl afs_syscall create_module epoll_ctl_old epoll_wait_old get_kernel_syms getpmsg ' +
      'nfsservctl putpmsg query_module security tuxcall vserver',
  },
];
