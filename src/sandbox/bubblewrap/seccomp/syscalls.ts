/** The machines for which we know the numbers of system calls, by Node's names for them. */
export interface Machine {
  /** How the kernel marks a call made in this machine's own way; any other mark is a foreign way of calling. */
  readonly audit: number
  /** Calls with this bit belong to a second way of calling that shares the mark. */
  readonly foreignBit?: number
  readonly calls: Readonly<Partial<Record<Syscall, number>>>
}

export type Syscall = (typeof syscalls)[number][0]

/** Name, number on x64, number on arm64. Those that a machine does not have are undefined there. */
const syscalls = [
  ['socket', 41, 198],
  ['fcntl', 72, 25],
  ['ioctl', 16, 29],
  ['clone', 56, 220],
  ['clone3', 435, 435],
  ['unshare', 272, 97],
  ['setns', 308, 268],
  ['ptrace', 101, 117],
  ['process_vm_readv', 310, 270],
  ['process_vm_writev', 311, 271],
  ['pidfd_getfd', 438, 438],
  ['kcmp', 312, 272],
  ['bpf', 321, 280],
  ['userfaultfd', 323, 282],
  ['perf_event_open', 298, 241],
  ['io_uring_setup', 425, 425],
  ['io_uring_enter', 426, 426],
  ['io_uring_register', 427, 427],
  ['add_key', 248, 217],
  ['request_key', 249, 218],
  ['keyctl', 250, 219],
  ['mount', 165, 40],
  ['umount2', 166, 39],
  ['pivot_root', 155, 41],
  ['open_tree', 428, 428],
  ['move_mount', 429, 429],
  ['fsopen', 430, 430],
  ['fsconfig', 431, 431],
  ['fsmount', 432, 432],
  ['fspick', 433, 433],
  ['mount_setattr', 442, 442],
  ['open_tree_attr', 467, 467],
  ['open_by_handle_at', 304, 265],
  ['swapon', 167, 224],
  ['swapoff', 168, 225],
  ['reboot', 169, 142],
  ['kexec_load', 246, 104],
  ['kexec_file_load', 320, 294],
  ['init_module', 175, 105],
  ['finit_module', 313, 273],
  ['delete_module', 176, 106],
  ['acct', 163, 89],
  ['quotactl', 179, 60],
  ['quotactl_fd', 443, 443],
  ['syslog', 103, 116],
  ['sethostname', 170, 161],
  ['setdomainname', 171, 162],
  ['settimeofday', 164, 170],
  ['clock_settime', 227, 112],
  ['vhangup', 153, 58],
  ['lookup_dcookie', 212, 18],
  ['modify_ldt', 154, undefined],
  ['iopl', 172, undefined],
  ['ioperm', 173, undefined],
  ['uselib', 134, undefined],
] as const

const numbersOf = (column: 1 | 2): Machine['calls'] =>
  Object.fromEntries(syscalls.flatMap((row) => (row[column] === undefined ? [] : [[row[0], row[column]]])))

export const machines: Readonly<Record<string, Machine>> = {
  // The bit marks x32, the 64-bit machine with short pointers: the same calls under other numbers.
  x64: { audit: 0xc000003e, foreignBit: 0x40000000, calls: numbersOf(1) },
  arm64: { audit: 0xc00000b7, calls: numbersOf(2) },
}
