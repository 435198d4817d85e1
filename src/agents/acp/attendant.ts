import { posix } from 'node:path'
import { asObject, type Fields } from '../../domain/base/object.ts'
import type { Command, LaunchSpec } from '../port.ts'
import { list, text } from '../shared/fields.ts'
import { harmless } from '../shared/harmless.ts'
import type { JsonRpc } from '../shared/json-rpc.ts'
import { createTextKeeper, pieceChars } from '../shared/text.ts'
import { attendantSource } from './attendant-source.ts'
import type { Habits } from './habits.ts'
import type { Asking, Request } from './requests.ts'

const refusal = -32603
const maxTerminals = 256

/** The program with somebody before it who does inside the walls what a client is asked to do. */
export const attended = (command: Command, { workspace }: Pick<LaunchSpec, 'workspace'>): Command => ({
  ...command,
  file: process.execPath,
  args: ['-e', attendantSource, '--', workspace, command.file, ...command.args],
  ...(posix.isAbsolute(command.file) ? { programs: [command.file] } : {}),
})

/** What a client is asked to do: decided here, done by the attendant inside the walls. */
export interface Attendance {
  attend(asking: Asking, request: Request): Promise<void>
  /** What the attendant says of a terminal that has ended. */
  ended(params: Fields): void
  output(terminalId: string): string | undefined
}

export function createAttendance(rpc: () => JsonRpc, can: NonNullable<Habits['attended']>): Attendance {
  const outputs = new Map<string, string>()
  return {
    async attend({ turn, hearing, blocked }, { id, method, params }) {
      const isFile = method.startsWith('fs/')
      if (!(isFile ? can.files : can.terminals) || !methods.has(method))
        return rpc().refuse(id, `Pawl does not answer ${method}.`)
      const wanted = wantedBy(method, params)
      if (wanted) {
        await hearing.pause()
        const permission = await turn.permit(wanted)
        if (!permission.allow) {
          rpc().refuse(id, permission.message, refusal)
          return permission.asked ? blocked() : undefined
        }
      }
      rpc().notify('_pawl/serve', { id, method, params })
    },
    ended(params) {
      const id = text(params.terminalId)
      if (id === undefined) return
      if (outputs.size >= maxTerminals) outputs.delete(outputs.keys().next().value ?? '')
      const output = createTextKeeper(pieceChars / 2)
      output.add(text(params.output) ?? '')
      outputs.set(id, output.text())
    },
    output: (terminalId) => outputs.get(terminalId),
  }
}

const methods = new Set([
  'fs/read_text_file',
  'fs/write_text_file',
  'terminal/create',
  'terminal/output',
  'terminal/wait_for_exit',
  'terminal/kill',
  'terminal/release',
])

/** The call as rules know it. What concerns a terminal that is there already needs no further leave. */
function wantedBy(method: string, params: Fields): { tool: string; input: unknown } | undefined {
  switch (method) {
    case 'fs/read_text_file':
      return { tool: 'Read', input: harmless({ path: params.path }) }
    case 'fs/write_text_file':
      return { tool: 'Write', input: harmless({ path: params.path, content: params.content }) }
    case 'terminal/create': {
      return {
        tool: 'execute',
        input: harmless({ command: commandOf(params), ...(params.cwd == null ? {} : { cwd: params.cwd }) }),
      }
    }
    default:
      return undefined
  }
}

/** With its variables, because with another search path an allowed command is another one. Without arguments it is a line for a shell. */
function commandOf({ command, args, env }: Fields): unknown {
  const variables = list(env).map((one) => [text(asObject(one)?.name) ?? '', text(asObject(one)?.value) ?? ''] as const)
  const words = list(args)
  if (words.length > 0) {
    const before = variables.length > 0 ? ['env', ...variables.map(([name, value]) => `${name}=${value}`)] : []
    return [...before, command, ...words]
  }
  const quoted = (value: string) => `'${value.replaceAll("'", `'\\''`)}'`
  return `${variables.map(([name, value]) => `export ${name}=${quoted(value)}; `).join('')}${text(command) ?? ''}`
}
