import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWalledWorld, starters, type WalledWorld } from '../../../test/contracts/walled-world.ts'
import { machines, type Syscall } from './seccomp/syscalls.ts'

const numbers = machines[process.arch]?.calls ?? {}
/** The name of the error that a system call ends with inside, or `ok`. Perl is part of every Debian. */
const call = (name: Syscall, ...args: readonly (number | string)[]) =>
  `printf "${name} %s\\n" "$(perl -e 'printf "%s", syscall(${[numbers[name], ...args].join(', ')}) >= 0 ? "ok" : $!{EPERM} ? "EPERM" : $!{ENOSYS} ? "ENOSYS" : $!{EAFNOSUPPORT} ? "EAFNOSUPPORT" : $!{EINVAL} ? "EINVAL" : $! + 0')"`
const answersOf = (out: string) =>
  Object.fromEntries(
    out
      .trim()
      .split('\n')
      .map((line) => line.split(' ')),
  )

describe.each(starters)('behind walls that %s built', (starter) => {
  let world: WalledWorld
  beforeAll(() => {
    world = createWalledWorld(starter)
  })
  afterAll(() => world.remove())

  test('the kernel refuses what an agent has no use for', async () => {
    const script = [
      call('ptrace', 16, 1, 0, 0),
      call('process_vm_readv', 1, 0, 0, 0, 0, 0),
      call('pidfd_getfd', 0, 0, 0),
      call('bpf', 0, 0, 0),
      call('userfaultfd', 0),
      call('perf_event_open', 0, 0, 0, 0, 0),
      call('io_uring_setup', 1, 0),
      call('add_key', 0, 0, 0, 0, 0),
      call('keyctl', 0, '-3', 1, 0, 0),
      call('mount', 0, 0, 0, 0, 0),
      call('umount2', 0, 0),
      call('fsopen', 0, 0),
      call('unshare', 0x10000000),
      call('setns', 0, 0),
      call('clone3', 0, 0),
      call('clone', 0x10000011, 0, 0, 0, 0),
      call('open_by_handle_at', 0, 0, 0),
      call('syslog', 2, 0, 0),
      call('ioctl', 0, 0x5412, 0),
      call('fcntl', 0, 10, 18),
    ]
    const refused = { io_uring_setup: 'ENOSYS', clone3: 'ENOSYS' } as Record<string, string>
    const answers = answersOf((await world.run(script.join('\n'))).out)
    expect(answers).toEqual(Object.fromEntries(Object.keys(answers).map((name) => [name, refused[name] ?? 'EPERM'])))
    expect(Object.keys(answers)).toHaveLength(script.length)
  })

  test('a socket is one to other processes inside or of the internet, and nothing else', async () => {
    const families = { unix: [1, 1], inet: [2, 1], inet6: [10, 2], vsock: [40, 1], packet: [17, 3], alg: [38, 5], xdp: [44, 3] }
    const tries = Object.entries(families).map(([name, [family, type]]) =>
      call('socket', family ?? 0, type ?? 0, 0).replace('socket %s', `${name} %s`),
    )
    const netlinks = { route: 0, diag: 4, netfilter: 12, uevent: 15, generic: 16 }
    const asked = Object.entries(netlinks).map(([name, protocol]) =>
      call('socket', 16, 3, protocol).replace('socket %s', `${name} %s`),
    )
    expect(answersOf((await world.run([...tries, ...asked].join('\n'))).out)).toEqual({
      ...{ unix: 'ok', inet: 'ok', inet6: 'ok', vsock: 'EAFNOSUPPORT', packet: 'EPERM', alg: 'EAFNOSUPPORT', xdp: 'EPERM' },
      ...{ route: 'ok', diag: 'EPERM', netfilter: 'EPERM', uevent: 'EPERM', generic: 'EPERM' },
    })
  })

  test('programs do as ever: threads, children, servers on the own loopback, names of the own network', async () => {
    const program = `
      const { Worker } = require('node:worker_threads'), http = require('node:http'), os = require('node:os')
      const { execFileSync } = require('node:child_process')
      new Worker('require("node:worker_threads").parentPort.postMessage(1)', { eval: true }).once('message', () => {
        const server = http.createServer((_, answer) => answer.end('served')).listen(0, 'localhost', async () => {
          const text = await (await fetch('http://localhost:' + server.address().port)).text()
          console.log(text, execFileSync('echo', ['child']).toString().trim(), Object.keys(os.networkInterfaces()).join(), os.cpus().length > 0)
          server.close()
        })
      })`
    world.file('project/program.cjs', program)
    const { out, err } = await world.run(`${world.node} program.cjs`)
    expect([out, err]).toEqual(['served child lo true\n', ''])
  })

  test('nothing of the machine is reached: not its loopback, not its abstract sockets, not the address of its metadata', async () => {
    const tcp = createServer().listen(0, '127.0.0.1')
    const abstract = createServer().listen(`\0pawl-canary-${process.pid}`)
    await Promise.all([once(tcp, 'listening'), once(abstract, 'listening')])
    const { port } = tcp.address() as { port: number }
    const connect = (name: string, options: string) =>
      `require("node:net").connect(${options}).on("connect", () => console.log("${name} reached")).on("error", (e) => console.log("${name}", e.code)).setTimeout(1000, function () { this.destroy() })`
    const program = [
      connect('loopback', `${port}, "127.0.0.1"`),
      connect('abstract', `"\\0pawl-canary-${process.pid}"`),
      connect('metadata', '80, "169.254.169.254"'),
    ].join(';')
    try {
      const { out } = await world.run(`${world.node} -e '${program}'`)
      expect(out.trim().split('\n').sort()).toEqual(['abstract ECONNREFUSED', 'loopback ECONNREFUSED', 'metadata ENETUNREACH'])
    } finally {
      tcp.close()
      abstract.close()
    }
  })

  test('where it is allowed, namespaces are made inside, and reach nothing more of the machine', async () => {
    const nested = [
      'unshare --user --map-root-user --mount --pid --fork sh -c',
      "'mount -t tmpfs none /tmp && touch /tmp/x && ls /tmp; mount -o remount,rw /usr 2>/dev/null && echo host; touch /usr/canary 2>/dev/null && echo host; id -u'",
    ].join(' ')
    expect((await world.run(nested)).out).toBe('')
    expect((await world.run(nested, { nestedNamespaces: true })).out).toBe('x\n0\n')
    const inner = 'bwrap --unshare-all --ro-bind / / --proc /proc --dev /dev echo walls in walls'
    expect((await world.run(inner, { nestedNamespaces: true })).out).toBe('walls in walls\n')
    expect((await world.run(call('ptrace', 16, 1, 0, 0), { nestedNamespaces: true })).out).toBe('ptrace EPERM\n')
  })
})
