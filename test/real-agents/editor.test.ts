import { existsSync } from 'node:fs'
import { chmod, mkdir, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RequestPermissionRequest } from '@agentclientprotocol/sdk'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openEditor, type TestEditor } from '../acp/editor.ts'
import { makeHome } from '../engine/home.ts'
import { type ModelServer, startModelServer } from '../model-server/server.ts'
import { type InstalledAgents, installedAgents } from './install.ts'
import { programNamed } from './peer.ts'

/** One that speaks the Agent Client Protocol itself: Pawl stands between two of its kind. */
const names = ['opencode'] as const

let home: Awaited<ReturnType<typeof makeHome>>
let models: ModelServer
let installed: InstalledAgents
let env: Record<string, string> = {}
beforeAll(async () => {
  home = await makeHome('pawl-editor-')
  models = await startModelServer()
  installed = await installedAgents()
  const agents = names.map((name) => {
    const program = programNamed(name)
    env = { ...env, [program.keyName]: `key-of-${name}-0123456789` }
    return {
      ...{ adapter: program.adapter, model: program.model, profile: 'asking', env: program.env?.(installed) ?? {} },
      ...{ ...program.options(installed), baseUrl: `${models.base('tool', name)}${program.api}` },
    }
  })
  const profiles = { asking: { extends: 'guarded', rules: { ask: ['Bash(cat:*)', 'Bash(echo:*)'] } } }
  const settings = { agents: Object.fromEntries(names.map((name, n) => [name, agents[n]])), profiles }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(settings), { mode: 0o600 })
}, 300_000)
afterAll(async () => {
  await models.close()
  await home.remove()
})

test.each(names)(
  'an editor drives the real %s through Pawl: what it says and does is shown, asked about, and loaded again',
  async (name) => {
    const folder = join(await realpath(home.path), `project-${name}`)
    await mkdir(folder)
    await chmod(folder, 0o777)
    const asked: RequestPermissionRequest[] = []
    const options = {
      ...{ args: ['--agent', name], env },
      permit: async (request: RequestPermissionRequest) => {
        asked.push(request)
        expect(existsSync(join(folder, 'tool-out.txt'))).toBe(false)
        return { outcome: { outcome: 'selected' as const, optionId: 'Allow for this task' } }
      },
    }
    const editor: TestEditor = await openEditor(home.path, options)
    const { sessionId } = await editor.newSession(folder)
    expect(await editor.prompt(sessionId, 'write the file'), editor.stderr()).toMatchObject({ stopReason: 'end_turn' })
    expect(asked.length).toBeGreaterThan(0)
    expect(existsSync(join(folder, 'tool-out.txt'))).toBe(true)
    expect(editor.text(sessionId).join('\n')).toContain('Done. Tool said: ')
    const calls = editor.updates(sessionId).filter((update) => update.sessionUpdate === 'tool_call')
    expect(calls).toContainEqual(
      expect.objectContaining({ kind: 'execute', title: expect.stringContaining('echo scripted-tool') }),
    )
    // While it is said there may be space at its end that is not stored.
    const said = editor.text(sessionId).map((text) => text.trim())
    expect(await editor.close()).toBe(0)
    expect(editor.faults()).toEqual([])

    // Another process, without any daemon in between: all of it is in the journal.
    const again = await openEditor(home.path, options)
    await again.load(sessionId, folder)
    expect(again.text(sessionId).map((text) => text.trim())).toEqual(said)
    expect(again.text(sessionId, 'user')).toEqual(['write the file'])
    expect(await again.close()).toBe(0)
    expect(again.faults()).toEqual([])
  },
  240_000,
)
