import { spawn } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { makeHome, startEngine } from '../engine/home.ts'
import { exceptions } from './exceptions.ts'
import { createExtras } from './extras/create-extras.ts'
import { startForwarder } from './forwarder.ts'

/**
 * The official conformance suite against our server, with nothing of it changed. Its report is kept in docs/conformance: PAWL_WRITE_CONFORMANCE=1 writes it anew, and
 * without that a run must come to the same verdicts.
 */
const suite = dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json'))
const kept = resolve(import.meta.dirname, '../../docs/conformance')

let daemon: Daemon
let home: Awaited<ReturnType<typeof makeHome>>
let forwarder: Awaited<ReturnType<typeof startForwarder>>
beforeAll(async () => {
  home = await makeHome('pawl-conformance-')
  daemon = await startEngine(home.path, { http: true, env: { PAWL_PORT: '0' }, conformance: { mcp: createExtras() } })
  forwarder = await startForwarder(daemon.url!, (await readFile(join(home.path, 'token'), 'utf8')).trim())
})
afterAll(async () => {
  await forwarder.stop()
  await daemon.stop()
  await home.remove()
})

for (const revision of ['2025-11-25', '2026-07-28'])
  it(`the server passes every scenario that ${revision} requires`, { timeout: 180_000 }, async () => {
    const { server: required } = parse(await readFile(join(suite, 'requirements', `${revision}.yaml`), 'utf8')) as {
      server: string[]
    }
    const listed = Object.keys(exceptions[revision] ?? {})
    const isAsListed = ({ verdicts }: Run) =>
      required.every((scenario) => verdicts[scenario] !== undefined) &&
      Object.keys(verdicts).every((scenario) => (verdicts[scenario] === 'failed') === listed.includes(scenario))
    // Some scenarios give the server half a second; a machine that is busy with other tests may need a second try.
    let run = await runSuite(revision)
    if (!isAsListed(run)) run = await runSuite(revision)
    const { report, verdicts } = run
    expect(required.filter((scenario) => verdicts[scenario] === undefined)).toEqual([])
    // Both ways: what fails is listed, and what is listed fails.
    expect(
      Object.keys(verdicts)
        .filter((scenario) => verdicts[scenario] === 'failed')
        .toSorted(),
      report,
    ).toEqual(listed.toSorted())

    const file = join(kept, `mcp-server-${revision}`)
    if (process.env.PAWL_WRITE_CONFORMANCE === '1') {
      await mkdir(kept, { recursive: true })
      await writeFile(`${file}.txt`, report)
      await writeFile(`${file}.json`, `${JSON.stringify(verdicts, undefined, 2)}\n`)
    }
    expect(verdicts).toEqual(JSON.parse(await readFile(`${file}.json`, 'utf8')))
  })

interface Run {
  /** What the suite printed, word for word. */
  readonly report: string
  /** Of each scenario, those that are not scored included. */
  readonly verdicts: Readonly<Record<string, 'passed' | 'failed'>>
}

async function runSuite(revision: string): Promise<Run> {
  const args = ['server', '--url', `${forwarder.url}/mcp`, '--requirements', revision, '--timeout', '60000']
  const child = spawn(process.execPath, [join(suite, 'dist/index.js'), ...args], {
    cwd: home.path,
    env: { PATH: process.env.PATH, NO_COLOR: '1' },
  })
  let report = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (report += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (report += text))
  await new Promise((ended) => child.once('close', ended))
  const counts = report.matchAll(/^[✓✗] ([\w-]+): \d+ passed, (\d+) failed/gm)
  return {
    report,
    verdicts: Object.fromEntries([...counts].map(([, name, failed]) => [name!, failed === '0' ? 'passed' : 'failed'])),
  }
}
