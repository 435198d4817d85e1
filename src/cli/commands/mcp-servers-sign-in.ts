import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Command } from 'commander'
import { PawlError } from '../../domain/error.ts'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { showServer } from '../terminal/mcp-server-screen.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'Sign in at a server of tools that asks for OAuth: open the address that is printed, on this machine. What it gives is kept among the secrets.',
    )
    .argument('<name>', '"pawl mcp-servers ls" lists them')
    .option('--port <port>', 'where the browser comes back to on 127.0.0.1; a free one if left out', Number)
    .addHelpText('after', '\nExample\n  pawl mcp-servers sign-in wiki')
    .action((name: string, { port = 0 }: { port?: number }) => signIn(cli, name, port))
}

const patienceMs = 10 * 60_000

async function signIn(cli: Cli, name: string, port: number): Promise<void> {
  const back = await awaitBrowser(port)
  try {
    await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
      const { url } = await runtime.beginMcpSignIn(name, back.url)
      cli.say('Open this address in a browser of this machine, and sign in there:')
      cli.out(url)
      showServer(cli, await runtime.finishMcpSignIn(name, await back.query))
    })
  } finally {
    back.close()
  }
}

/** Listens for the one request that brings a browser back. */
async function awaitBrowser(port: number) {
  const query = Promise.withResolvers<string>()
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    const isIt = url.pathname === '/callback' && (url.searchParams.has('code') || url.searchParams.has('error'))
    response.writeHead(isIt ? 200 : 404, { 'content-type': 'text/plain', connection: 'close' })
    response.end(isIt ? 'Signed in. You can close this window.' : 'Nothing here.')
    if (isIt) query.resolve(url.search.slice(1))
  })
  await new Promise<void>((listening, fail) => {
    server.once('error', fail)
    server.listen(port, '127.0.0.1', listening)
  })
  const timer = setTimeout(
    () => query.reject(new PawlError('unavailable', 'Nobody signed in within ten minutes; begin again.')),
    patienceMs,
  )
  query.promise.catch(() => undefined)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    query: query.promise,
    close() {
      clearTimeout(timer)
      server.close()
      server.closeAllConnections()
    },
  }
}
