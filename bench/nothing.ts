import { Readable, Writable } from 'node:stream'
import type { Sandbox } from '../src/sandbox/port.ts'

/** Walls around nothing: a program that has printed its answer and ended before anybody looks. */
export const nothing: Sandbox = {
  name: 'nothing',
  probe: async () => ({ available: true, enforced: true, detail: '' }),
  killUnit: (run, fence) => ({ kind: 'process_group', marker: `${run}.${fence}`, enforced: true }),
  async launch() {
    const exit = { code: 0, signal: null }
    const stdin = new Writable({ write: (_chunk, _encoding, done) => done() })
    const stdout = Readable.from([Buffer.from('done\n')], { objectMode: false })
    const stderr = Readable.from([], { objectMode: false })
    const child = { pid: process.pid, stdin, stdout, stderr, exited: Promise.resolve(exit), stop: async () => exit }
    return { child, isAlone: () => true }
  },
}
