import { lstat, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { hostPath, sandboxPath } from '../domain/base/path.ts'
import { PawlError } from '../domain/error.ts'
import type { ToolVerbs } from './base/tool.ts'
import { createStrictTools, type StrictOptions } from './strict/strict.ts'
import type { Permit } from './strict/strict-parts.ts'

/** A workspace that the agent knows as /workspace, a read-only folder /docs, and a world outside that holds a secret. */
export interface ToolWorld {
  readonly base: string
  readonly workspace: string
  readonly outside: string
  readonly asked: { tool: string; input: unknown }[]
  readonly questions: unknown[]
  put(files: Readonly<Record<string, string>>, root?: string): Promise<void>
  /** The answer of a tool, or how it refused: `denied: …`. */
  call(tool: string, input: unknown, options?: { signal?: AbortSignal }): Promise<string>
  names(): string[]
  outsideNow(): Promise<Record<string, string>>
  remove(): Promise<void>
}

export const secret = 'what-lies-outside'

export async function createToolWorld(options: Partial<StrictOptions> = {}): Promise<ToolWorld> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'pawl-tools-')))
  const [workspace, docs, outside] = [join(base, 'ws'), join(base, 'docs'), join(base, 'outside')]
  const put = async (files: Readonly<Record<string, string>>, root = workspace) => {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, name)), { recursive: true })
      await writeFile(join(root, name), text)
    }
  }
  await put({ 'guide.md': 'how to' }, docs)
  await put({ 'secret.txt': secret, 'deep/secret.txt': secret }, outside)
  await mkdir(workspace)
  const asked: ToolWorld['asked'] = []
  const questions: unknown[] = []
  const permit: Permit = async (request) => {
    asked.push(request)
    return { allow: true }
  }
  const tools = await createStrictTools({
    roots: [
      { source: hostPath(workspace), path: sandboxPath('/workspace'), mode: 'rw' },
      { source: hostPath(docs), path: sandboxPath('/docs'), mode: 'ro' },
    ],
    permit,
    ...options,
  })
  const verbs: ToolVerbs = {
    async consult(given) {
      questions.push(...given)
      return undefined
    },
    notify: async () => undefined,
  }
  return {
    ...{ base, workspace, outside, asked, questions, put },
    async call(name, input, { signal = new AbortController().signal } = {}) {
      const tool = tools.find((each) => each.name === name)
      if (!tool) throw new Error(`no tool ${name}`)
      try {
        return await tool.call(input, verbs, signal)
      } catch (error) {
        if (error instanceof PawlError) return `${error.code}: ${error.message}`
        throw error
      }
    },
    names: () => tools.map(({ name }) => name),
    async outsideNow() {
      const found: Record<string, string> = {}
      for (const name of (await readdir(outside, { recursive: true })).toSorted())
        if ((await lstat(join(outside, name))).isFile()) found[name] = await readFile(join(outside, name), 'utf8')
      return found
    },
    remove: () => rm(base, { recursive: true, force: true }),
  }
}
