import type { Syscall } from './syscalls.ts'

/** `eperm` for what is forbidden; `enosys` where programs ask whether the call exists and then do without it. */
export type Refusal = 'eperm' | 'enosys' | 'eafnosupport'

/** A test of one argument. Only its lower half is looked at: the kernel takes these arguments as 32 bits. */
export type ArgumentTest =
  | { readonly argument: number; readonly equals: number }
  /** The value under the mask. */
  | { readonly argument: number; readonly mask: number; readonly equals: number }
  /** At least one of these bits. */
  | { readonly argument: number; readonly anyOf: number }

export interface Rule {
  readonly call: Syscall
  /** In order: the first whose tests all hold decides. Without any, or if none holds, `otherwise` does. */
  readonly cases?: readonly { readonly when: readonly ArgumentTest[]; readonly verdict: Refusal | 'allow' }[]
  readonly otherwise: Refusal | 'allow'
}

const unix = 1
const inet = 2
const inet6 = 10
const netlink = 16
const netlinkRoute = 0
const rawSocket = 3
const packetSocket = 10
/** The rest of a socket's type are flags. */
const socketKind = 0xf

/** In the low byte `clone` takes the signal for the parent; the time namespace shares that bit, and only `unshare` makes it. */
const cloneNamespaces = 0x7e020000
const unshareNamespaces = cloneNamespaces | 0x80

/** Pushing characters into a terminal as if they were typed there. */
const tiocsti = 0x5412
const tioclinux = 0x541c
/** Names the signal by which a process hears of a descriptor or a folder. SIGCONT would wake it between two turns, while it is stopped. */
const setSignal = 10
const sigcont = 18

/** What nothing inside the walls may ask of the kernel. What is not named is allowed. */
export function rulesFor({ nestedNamespaces }: { readonly nestedNamespaces: boolean }): readonly Rule[] {
  return [...always, ...(nestedNamespaces ? [] : noNamespaces)]
}

const forbid = (...calls: Syscall[]): Rule[] => calls.map((call) => ({ call, otherwise: 'eperm' }))
const absent = (...calls: Syscall[]): Rule[] => calls.map((call) => ({ call, otherwise: 'enosys' }))

const always: readonly Rule[] = [
  {
    call: 'socket',
    cases: [
      { when: [{ argument: 0, equals: unix }], verdict: 'allow' },
      { when: [{ argument: 1, mask: socketKind, equals: packetSocket }], verdict: 'eperm' },
      // Listing the network's interfaces and addresses is done over this one (getifaddrs, so Node's os.networkInterfaces, which throws
      // without it, and with it every development server that prints where it listens). Changing anything needs a right that nobody
      // has inside, and there is nothing but the own loopback to list.
      {
        when: [
          { argument: 0, equals: netlink },
          { argument: 2, equals: netlinkRoute },
        ],
        verdict: 'allow',
      },
      { when: [{ argument: 1, mask: socketKind, equals: rawSocket }], verdict: 'eperm' },
      { when: [{ argument: 0, equals: inet }], verdict: 'allow' },
      { when: [{ argument: 0, equals: inet6 }], verdict: 'allow' },
    ],
    otherwise: 'eafnosupport',
  },
  {
    call: 'ioctl',
    cases: [
      { when: [{ argument: 1, equals: tiocsti }], verdict: 'eperm' },
      { when: [{ argument: 1, equals: tioclinux }], verdict: 'eperm' },
    ],
    otherwise: 'allow',
  },
  {
    call: 'fcntl',
    cases: [
      {
        when: [
          { argument: 1, equals: setSignal },
          { argument: 2, equals: sigcont },
        ],
        verdict: 'eperm',
      },
    ],
    otherwise: 'allow',
  },
  // Other processes' memory, descriptors and secrets. A debugger that attaches to what it started needs ptrace too, and does not work;
  // with it the walls' first process could be stopped for ever, and seccomp cannot tell whom a call is about.
  ...forbid('ptrace', 'process_vm_readv', 'process_vm_writev', 'pidfd_getfd', 'kcmp', 'add_key', 'request_key', 'keyctl'),
  // Parts of the kernel that are large, young, and not needed.
  ...forbid('bpf', 'userfaultfd', 'perf_event_open', 'modify_ldt', 'uselib', 'lookup_dcookie', 'open_by_handle_at'),
  ...absent('io_uring_setup', 'io_uring_enter', 'io_uring_register'),
  // The machine itself.
  ...forbid('swapon', 'swapoff', 'reboot', 'kexec_load', 'kexec_file_load', 'init_module', 'finit_module', 'delete_module'),
  ...forbid('acct', 'quotactl', 'quotactl_fd', 'syslog', 'settimeofday', 'clock_settime', 'vhangup', 'iopl', 'ioperm'),
]

const noNamespaces: readonly Rule[] = [
  { call: 'clone', cases: [{ when: [{ argument: 0, anyOf: cloneNamespaces }], verdict: 'eperm' }], otherwise: 'allow' },
  { call: 'unshare', cases: [{ when: [{ argument: 0, anyOf: unshareNamespaces }], verdict: 'eperm' }], otherwise: 'allow' },
  // Its flags lie in memory, where a filter cannot look; every C library then takes `clone`, whose flags it can.
  ...absent('clone3'),
  ...forbid('setns', 'mount', 'umount2', 'pivot_root', 'open_tree', 'move_mount', 'fsopen', 'fsconfig', 'fsmount', 'fspick'),
  ...forbid('mount_setattr', 'open_tree_attr', 'sethostname', 'setdomainname'),
]
