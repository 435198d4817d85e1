import { systemClock } from '../../base/clock.ts'
import { type Config, environmentOf, searchPath } from '../../config/config.ts'
import { messageOf } from '../../domain/error.ts'
import type { Finding, Found } from '../../domain/view/doctor.ts'
import { keyReader } from '../../engine/models/provider-key.ts'
import { reachProvider } from '../../engine/models/reach.ts'
import { openReceiver } from '../../sandbox/egress/post.ts'
import { findProgram } from '../../sandbox/process/program.ts'

export async function settings(config: Config): Promise<Found> {
  const files = [config.files.project, config.files.home].filter((file) => file !== undefined)
  if (config.untrusted) {
    return {
      level: 'warn',
      detail: `${config.untrusted.file} is not trusted; these do not count: ${config.untrusted.keys.join(', ')}`,
      fix: `read it, then: pawl trust ${config.untrusted.file}`,
    }
  }
  return {
    level: 'ok',
    detail: files.length > 0 ? files.join(', ') : 'none; the built-in agents are there ("pawl init" writes a file)',
  }
}

/** Can those who are to be told be reached? Nothing is said to them. */
export async function notifications(config: Config): Promise<Finding[]> {
  const findings = config.notifications.map(async ({ name, way }): Promise<Finding> => {
    const row = `notification ${name}`
    try {
      if (way.kind === 'command') {
        const file = await findProgram(way.run[0]!, { path: searchPath(), folder: config.home })
        return { name: row, level: 'ok', detail: file }
      }
      const socket = await openReceiver(way, AbortSignal.timeout(5_000))
      socket.destroy()
      return { name: row, level: 'ok', detail: `${new URL(way.url).host} can be reached` }
    } catch (error) {
      return { name: row, level: 'fail', detail: messageOf(error), fix: `correct it, then: pawl notifications test ${name}` }
    }
  })
  return Promise.all(findings)
}

/** Is the key of each provider where it is said to be, and does the provider take it? One that is kept among the secrets is not looked at: that would need the database. */
export async function providers(config: Config): Promise<Finding[]> {
  const findings = Object.entries(config.providers).map(async ([provider, settings]): Promise<Finding> => {
    const name = `provider ${provider}`
    const { key } = settings
    if (key && 'secret' in key)
      return { name, level: 'ok', detail: `its key is the secret "${key.secret}"; "pawl models --check" tries it` }
    const parts = { environment: environmentOf, secretsFor: async () => [], clock: systemClock }
    const read = keyReader(provider, key, { agent: '', user: '' }, parts)
    try {
      const { ok, detail } = await reachProvider(settings, (await read())?.value)
      return ok
        ? { name, level: 'ok', detail }
        : { name, level: 'fail', detail, fix: `correct providers.${provider}, or start it` }
    } catch (error) {
      return { name, level: 'fail', detail: messageOf(error), fix: 'put the key there' }
    }
  })
  return Promise.all(findings)
}
