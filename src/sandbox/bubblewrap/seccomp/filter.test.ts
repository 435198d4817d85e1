import { describe, expect, test } from 'vitest'
import { answers, codes, offsets, seccompFilter } from './filter.ts'
import { machines, type Syscall } from './syscalls.ts'

const errors = { eperm: 0x00050001, enosys: 0x00050026, eafnosupport: 0x00050061 } as const
type Verdict = 'allow' | 'kill' | keyof typeof errors

/** What the kernel would do with these bytes, for one call. */
function decide(filter: Buffer, call: { number: number; audit: number; args?: readonly number[] }): Verdict {
  const data = Buffer.alloc(64)
  data.writeUInt32LE(call.number >>> 0, offsets.call)
  data.writeUInt32LE(call.audit >>> 0, offsets.audit)
  for (const [index, value] of (call.args ?? []).entries()) data.writeBigUInt64LE(BigInt(value), offsets.argument(index))
  let accumulator = 0
  for (let at = 0; at < filter.length; at += 8) {
    const value = filter.readUInt32LE(at + 4)
    const step = (holds: boolean) => 8 * filter.readUInt8(at + (holds ? 2 : 3))
    switch (filter.readUInt16LE(at)) {
      case codes.load:
        accumulator = data.readUInt32LE(value)
        break
      case codes.and:
        accumulator = (accumulator & value) >>> 0
        break
      case codes.jumpIfEqual:
        at += step(accumulator === value)
        break
      case codes.jumpIfAnyBit:
        at += step((accumulator & value) !== 0)
        break
      case codes.answer: {
        if (value === answers.allow) return 'allow'
        if (value === answers.kill) return 'kill'
        const found = Object.entries(errors).find(([, code]) => code === value)
        if (!found) throw new Error(`an answer nobody knows: ${value.toString(16)}`)
        return found[0] as Verdict
      }
      default:
        throw new Error(`an instruction nobody knows at ${at}`)
    }
  }
  throw new Error('the program has no end')
}

describe.each(Object.keys(machines))('the filter of system calls on %s', (arch) => {
  const machine = machines[arch]
  if (!machine) throw new Error('no such machine')
  const filters = {
    plain: seccompFilter({ arch, nestedNamespaces: false }),
    nested: seccompFilter({ arch, nestedNamespaces: true }),
  }
  const numberOf = (call: Syscall) => machine.calls[call] ?? Number.NaN
  const ask = (call: Syscall, args: readonly number[] = [], filter = filters.plain) =>
    decide(filter, { number: numberOf(call), audit: machine.audit, args })

  test.each([
    ['a pipe between processes', [1, 1, 0], 'allow'],
    ['a raw type of it, which is none', [1, 3, 0], 'allow'],
    ['TCP', [2, 1, 0], 'allow'],
    ['TCP that closes at exec and does not block', [2, 1 | 0o2004000, 6], 'allow'],
    ['UDP over IPv6', [10, 2, 0], 'allow'],
    ['raw IPv4', [2, 3, 1], 'eperm'],
    ['raw IPv6 with flags', [10, 3 | 0o2000000, 58], 'eperm'],
    ['the old packet type', [2, 10, 0x300], 'eperm'],
    ['routes and addresses', [16, 3, 0], 'allow'],
    ['uevents', [16, 2, 15], 'eafnosupport'],
    ['netfilter', [16, 3, 12], 'eperm'],
    ['packets', [17, 2, 0x300], 'eafnosupport'],
    ['the hypervisor', [40, 1, 0], 'eafnosupport'],
    ['the crypto API', [38, 5, 0], 'eafnosupport'],
    ['bluetooth', [31, 1, 3], 'eafnosupport'],
    ['express data path', [44, 1, 0], 'eafnosupport'],
    ['a family given with noise in its upper half', [0x1_0000_0028, 1, 0], 'eafnosupport'],
  ] as const)('a socket for %s', (_, args, verdict) => expect(ask('socket', args)).toBe(verdict))

  test.each([
    ['a plain fork', 'clone', [0x11], 'allow'],
    ['a thread', 'clone', [0x3d0f00], 'allow'],
    ['a user namespace', 'clone', [0x10000011], 'eperm'],
    ['a network namespace with noise above', 'clone', [0x1_40000011], 'eperm'],
    ['a call whose flags cannot be seen', 'clone3', [], 'enosys'],
    ['no namespace at all', 'unshare', [0x200], 'allow'],
    ['a user namespace of its own', 'unshare', [0x10000000], 'eperm'],
    ['a mount namespace of its own', 'unshare', [0x20000], 'eperm'],
    ['a time namespace of its own', 'unshare', [0x80], 'eperm'],
    ["somebody else's namespace", 'setns', [3, 0], 'eperm'],
    ['a mount', 'mount', [], 'eperm'],
    ['a mount by the new calls', 'fsopen', [], 'eperm'],
    ['another root', 'pivot_root', [], 'eperm'],
  ] as const)('%s', (_, call, args, verdict) => {
    expect(ask(call, args)).toBe(verdict)
    expect(ask(call, args, filters.nested)).toBe('allow')
  })

  test.each([
    'ptrace',
    'process_vm_readv',
    'process_vm_writev',
    'pidfd_getfd',
    'kcmp',
    'bpf',
    'userfaultfd',
    'perf_event_open',
    'add_key',
    'request_key',
    'keyctl',
    'open_by_handle_at',
    'swapon',
    'reboot',
    'kexec_load',
    'finit_module',
    'acct',
    'syslog',
  ] as const)('%s is forbidden, nested namespaces or not', (call) => {
    expect([ask(call), ask(call, [], filters.nested)]).toEqual(['eperm', 'eperm'])
  })

  test('what programs ask for before they use it is not there', () => {
    expect([ask('io_uring_setup'), ask('io_uring_enter'), ask('io_uring_register')]).toEqual(['enosys', 'enosys', 'enosys'])
  })

  test('no descriptor can be made to wake a stopped process, and all else is asked of descriptors as ever', () => {
    expect(ask('fcntl', [5, 10, 18])).toBe('eperm')
    expect(ask('fcntl', [5, 10, 0x7_0000_0012])).toBe('eperm')
    expect(ask('fcntl', [5, 10, 18], filters.nested)).toBe('eperm')
    expect(ask('fcntl', [5, 10, 29])).toBe('allow')
    expect(ask('fcntl', [5, 4, 18])).toBe('allow')
  })

  test('nothing can be typed into a terminal, and other requests to a terminal are made as ever', () => {
    expect(ask('ioctl', [0, 0x5412])).toBe('eperm')
    expect(ask('ioctl', [0, 0x541c])).toBe('eperm')
    expect(ask('ioctl', [0, 0x5_0000_5412])).toBe('eperm')
    expect(ask('ioctl', [0, 0x5413])).toBe('allow')
  })

  test('every other call is allowed', () => {
    const named = new Set<number>(Object.values(machine.calls))
    for (let number = 0; number < 500; number++) {
      if (!named.has(number)) expect(decide(filters.plain, { number, audit: machine.audit })).toBe('allow')
    }
  })

  test('a call made in a foreign way ends the program, or is not there', () => {
    expect(decide(filters.plain, { number: 20, audit: 0x40000003 })).toBe('kill')
    if (machine.foreignBit !== undefined)
      expect(decide(filters.plain, { number: machine.foreignBit | 521, audit: machine.audit })).toBe('enosys')
  })
})

test('a machine whose calls nobody wrote down gets no walls', () => {
  expect(() => seccompFilter({ arch: 'riscv64', nestedNamespaces: false })).toThrow(/riscv64.*x64 and arm64/)
})
