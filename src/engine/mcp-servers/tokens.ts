import { PawlError } from '../../domain/error.ts'
import type { TokenKeeper } from '../../tools/servers/port.ts'
import { globalScope, type Secrets } from '../auth/secrets.ts'

/** What lets Pawl in by OAuth lies among the secrets, sealed like them. */
export const secretTokens = (secrets: Pick<Secrets, 'resolve' | 'setSecret'>): TokenKeeper => ({
  async read(server) {
    const name = nameOf(server)
    try {
      const [kept] = await secrets.resolve([{ name, variable: name }], { agent: '', user: '' })
      return kept?.value
    } catch (error) {
      if (error instanceof PawlError && error.code === 'not_found') return undefined
      throw error
    }
  },
  async write(server, text) {
    await secrets.setSecret(globalScope, nameOf(server), text, { by: 'pawl' })
  },
})

const nameOf = (server: string) => `mcp.${server}.oauth`
