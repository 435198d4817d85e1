/** The official conformance suite against our client of MCP. Started by itself, it writes the reports: node test/mcp-conformance/client-suite.ts */
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export const revisions = ['2026-07-28', '2025-11-25'] as const

const root = join(import.meta.dirname, '../..')
const suite = join(root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')

/** Everything that it printed, and whether it is content: all scenarios pass but those that are listed, and those do not. */
export async function runClientSuite(revision: (typeof revisions)[number]): Promise<{ code: number | null; output: string }> {
  const args = ['client', '--command', 'node test/mcp-conformance/client.ts', '--requirements', revision]
  // It starts all scenarios at once, so on a busy machine each of them takes long.
  const more = ['--timeout', '300000', '--expected-failures', 'test/mcp-conformance/client-exceptions.yaml']
  const env = {
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    HOME: process.env.HOME,
    NO_COLOR: '1',
    NODE_NO_WARNINGS: '1',
    // Each scenario is a process of its own, and most of its start is compiling the same libraries again.
    NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache'),
  }
  const child = spawn(process.execPath, [suite, ...args, ...more], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const code = await new Promise<number | null>((ended) => child.once('close', ended))
  return { code, output }
}

if (process.argv[1] === import.meta.filename) {
  const folder = join(root, 'docs/conformance')
  mkdirSync(folder, { recursive: true })
  for (const revision of revisions) {
    const { code, output } = await runClientSuite(revision)
    writeFileSync(join(folder, `mcp-client-${revision}.txt`), output)
    console.log(`${revision}: ${code === 0 ? 'conforms' : 'DOES NOT CONFORM'}`)
    if (code !== 0) process.exitCode = 1
  }
}
