import { which } from '../../sandbox/process/which.ts'
import type { AgentHealth, ProbePlace } from '../port.ts'
import { notRunning } from './model-facts.ts'
import type { OllamaOptions } from './options.ts'
import { program } from './program.ts'
import { install, ollamaServer } from './server.ts'

/** The program is ours and always there; what may be missing is the server, and the model on it. */
export async function probeOllama(
  options: OllamaOptions,
  place: ProbePlace,
  server = ollamaServer(place.endpoint),
): Promise<AgentHealth> {
  const missing = program.missing()
  if (missing) return missing
  const [version, models] = await Promise.all([server.version(), server.models()])
  const unwell = (detail: string, fix: string): AgentHealth => ({ installed: true, healthy: false, detail, fix })
  if ('unreachable' in version) {
    // Where nobody has asked for anything. Who has a model served by another provider needs no such server, and nothing is missing there.
    if (place.endpoint === undefined && place.model === undefined && 'missing' in which('ollama', place))
      return { installed: false, healthy: false, detail: `no Ollama server is at ${server.url}`, fix: install }
    return unwell(
      `the Ollama server at ${server.url} does not answer (${version.unreachable})`,
      'Start it with "ollama serve" (it is at https://ollama.com/download), or correct the agent\'s baseUrl.',
    )
  }
  if ('status' in version) return unwell(notRunning(server, `it answers with ${version.status}`), "Correct the agent's baseUrl.")
  const names = 'value' in models ? models.value : []
  const at = `Ollama ${version.value} at ${server.url}`
  const has =
    names.length === 0 ? 'it has no model yet' : `it has ${names.slice(0, 10).join(', ')}${names.length > 10 ? ', …' : ''}`
  const well = { installed: true, version: version.value }
  if (place.model === undefined)
    return {
      ...well,
      healthy: false,
      detail: `${at}; no model is chosen; ${has}`,
      fix: 'Name a model: --model NAME, or "model:" of the agent.',
    }
  if (!isThere(place.model, names)) {
    const fix = `Get it: ollama pull ${place.model}`
    const detail = `${at}; ${place.model} is not there; ${has}`
    return options.pull
      ? { ...well, healthy: true, detail: `${detail}; it will be pulled` }
      : { ...well, healthy: false, detail, fix }
  }
  return { ...well, healthy: true, detail: `${at}; ${place.model} is there` }
}

/** A name without a tag means the tag `latest`. */
export const isThere = (model: string, names: readonly string[]) => {
  const whole = (name: string) => (/:[^/]*$/.test(name) ? name : `${name}:latest`).toLowerCase()
  return names.some((name) => whole(name) === whole(model))
}
