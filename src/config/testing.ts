/** A user's machine in a temporary folder, for the tests of the settings. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import type { Preset } from '../agents/port.ts'
import { PawlError } from '../domain/error.ts'
import { type Config, type ConfigFlags, loadConfig } from './config.ts'
import type { ConfigAdapter } from './json-schema.ts'

export const adapters: readonly ConfigAdapter[] = [
  {
    name: 'custom',
    options: z.strictObject({
      command: z.array(z.string()).min(1),
      args: z.array(z.string()).optional(),
      prompt: z.enum(['stdin', 'file', 'flag', 'arg']).default('stdin'),
      promptFlag: z.string().optional(),
      output: z.enum(['text', 'json', 'jsonl']).default('text'),
      map: z.strictObject({ text: z.string().optional() }).optional(),
    }),
  },
  { name: 'demo', options: z.strictObject({ pace: z.number().default(1) }), builtin: { name: 'demo', options: { pace: 1 } } },
]

export class Machine implements Disposable {
  readonly root = mkdtempSync(join(tmpdir(), 'pawl-config-'))
  readonly home = join(this.root, 'user', '.pawl')
  readonly project = join(this.root, 'work', 'project')
  readonly projectFile = join(this.project, 'pawl.yaml')
  readonly homeFile = join(this.home, 'config.yaml')

  constructor() {
    mkdirSync(join(this.project, '.git'), { recursive: true })
  }

  write(file: string, content: string | Uint8Array): string {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
    return file
  }

  load(
    options: {
      cwd?: string
      env?: Record<string, string>
      flags?: ConfigFlags
      adapters?: readonly ConfigAdapter[]
      presets?: readonly Preset[]
    } = {},
  ): Promise<Config> {
    return loadConfig({
      cwd: options.cwd ?? this.project,
      env: { HOME: join(this.root, 'user'), ...options.env },
      adapters: options.adapters ?? adapters,
      presets: options.presets,
      flags: options.flags,
    })
  }

  /** The sentence with which the settings are refused. */
  async refusal(options: Parameters<Machine['load']>[0] = {}): Promise<string> {
    try {
      await this.load(options)
    } catch (error) {
      if (error instanceof PawlError) return error.message
      throw error
    }
    throw new Error('the settings were accepted')
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true })
  }
}
