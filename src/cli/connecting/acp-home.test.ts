import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { publishRunFile } from '../../daemon/machine/run-file.ts'
import { processIdentity } from '../../sandbox/process/identity.ts'
import { Cli } from '../terminal/cli.ts'
import { openAcpHome } from './acp-home.ts'

test('a daemon that dies while it is looked for is waited for, and no engine is opened in its place', async () => {
  const home = await mkdtemp(join(tmpdir(), 'pawl-acp-home-'))
  const token = join(home, 'token')
  const secret = 'a token of this home'
  const daemon = spawn('sleep', ['600'], { stdio: 'ignore' })
  const next = createServer((_, answer) => answer.end('{"version":"1"}'))
  try {
    await once(daemon, 'spawn')
    await publishRunFile(home, { ...processIdentity(daemon.pid), url: 'http://127.0.0.1:9', version: '1' })
    await writeFile(token, `${secret}\n`)
    const cli = new Cli(home)
    cli.globals = { home }
    const acp = await openAcpHome(cli)
    expect(acp.isOwn).toBe(false)
    // Whoever looks for the daemon has seen it alive when the token is read, and goes on when it is dead.
    await rm(token)
    await promisify(execFile)('mkfifo', [token])
    const asked = acp.use((runtime) => runtime.health())
    asked.catch(() => undefined)
    const reader = await open(token, 'w')
    daemon.kill('SIGKILL')
    await once(daemon, 'exit')
    await reader.writeFile(`${secret}\n`)
    await reader.close()

    await rm(token)
    await writeFile(token, `${secret}\n`)
    next.listen(0, '127.0.0.1')
    await once(next, 'listening')
    const url = `http://127.0.0.1:${(next.address() as AddressInfo).port}`
    await publishRunFile(home, { ...processIdentity(), url, version: '1' })
    expect(await asked).toMatchObject({ version: '1' })
    expect(existsSync(join(home, 'postgres'))).toBe(false)
    await acp.close()
  } finally {
    daemon.kill('SIGKILL')
    next.close()
    await rm(home, { recursive: true, force: true })
  }
})
