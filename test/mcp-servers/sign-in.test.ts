import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeHome, startEngine } from '../engine/home.ts'
import { startOAuthPeer } from './oauth-server.ts'

test('somebody signs in once at a server that asks for OAuth; what it gave is sealed, renewed, and there after a restart', async () => {
  const home = await makeHome()
  const wiki = await startOAuthPeer()
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify({ mcpServers: { wiki: { url: wiki.url, oauth: true } } }), {
    mode: 0o600,
  })
  let daemon = await startEngine(home.path)
  try {
    const before = await daemon.runtime.testMcpServer('wiki')
    expect(before).toMatchObject({
      signsIn: true,
      health: { state: 'sign_in', error: 'The server "wiki" wants somebody to sign in: pawl mcp-servers sign-in wiki' },
    })
    const { url } = await daemon.runtime.beginMcpSignIn('wiki', 'http://127.0.0.1:9/callback')
    // What the browser does: it is sent back with the answer.
    const sent = await fetch(url, { redirect: 'manual' })
    const back = new URL(sent.headers.get('location')!)
    expect(back.origin).toBe('http://127.0.0.1:9')
    await expect(daemon.runtime.finishMcpSignIn('wiki', 'code=x&state=of-somebody-else')).rejects.toThrow('begin again')
    const again = await daemon.runtime.beginMcpSignIn('wiki', 'http://127.0.0.1:9/callback')
    const answer = new URL((await fetch(again.url, { redirect: 'manual' })).headers.get('location')!)
    const signedIn = await daemon.runtime.finishMcpSignIn('wiki', answer.search.slice(1))
    expect(signedIn.health).toMatchObject({ state: 'reachable', server: 'wiki', version: '7.8.9', tools: ['look'] })
    expect((await daemon.secrets.listSecrets()).map(({ name }) => name)).toEqual(['mcp.wiki.oauth'])
    await expect(daemon.runtime.finishMcpSignIn('wiki', answer.search.slice(1))).rejects.toThrow('Nobody is just signing in')

    wiki.endTokens()
    await daemon.stop()
    daemon = await startEngine(home.path)
    expect((await daemon.runtime.testMcpServer('wiki')).health.state).toBe('reachable')
    expect(wiki.asked.filter((one) => one === 'refresh_token')).toHaveLength(1)
  } finally {
    await daemon.stop()
    await wiki.stop()
    await home.remove()
  }
}, 90_000)
