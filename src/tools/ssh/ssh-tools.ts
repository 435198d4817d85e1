import { z } from 'zod'
import { type Clock, systemClock } from '../../base/clock.ts'
import { denied, invalid, limited, messageOf, notFound, PawlError, unavailable } from '../../domain/error.ts'
import type { SshAccess } from '../../domain/profile/profile.ts'
import { withoutMiddle } from '../base/answer-text.ts'
import { reaching, type Tool, tool } from '../base/tool.ts'
import { readPathText } from '../files/path-text.ts'
import { gateBy, type Permit } from '../strict/strict-parts.ts'
import { holdsSecrets } from './blocked.ts'
import { runOver, type SshHost, type SshRan } from './connection.ts'
import { judge } from './filter.ts'

export interface SshToolsOptions {
  readonly access: SshAccess
  /** A folder of the run, ours alone. */
  readonly folder: string
  readonly key: (name: string) => Promise<string>
  /** Asked before every call; having `ssh` in the profile is the approval of what the filter lets through, so this only has to know denials. */
  readonly permit: Permit
  /** Asks a person about a command that destroys, whatever the rules say. */
  readonly approve: Permit
  /** Written before a command is run, and when it has ended or was refused. */
  readonly audit: (entry: SshAudit) => Promise<void>
  readonly clock?: Clock
}

export interface SshAudit {
  readonly tool: 'ssh_exec' | 'ssh_read' | 'ssh_connect'
  readonly host: string
  readonly what: string
  readonly state: 'begun' | 'ended' | 'failed' | 'refused'
  readonly level?: number | undefined
  readonly code?: number | null | undefined
  readonly bytes?: number | undefined
  readonly why?: string | undefined
}

const mostConnections = 3
const mostPerMinute = 30
const longestMs = 300_000
const usualMs = 60_000

/** Other machines for a run whose profile names some. */
export function createSshTools(options: SshToolsOptions): Tool[] {
  const { access, permit, approve, audit, clock = systemClock } = options
  const names = access.hosts.map(({ name }) => name)
  const host = z
    .string()
    .min(1)
    .max(253)
    .describe(`Which machine: ${names.join(', ')}.`)
  const timeout = z
    .int()
    .min(1)
    .max(longestMs)
    .optional()
    .describe(`Milliseconds until it is ended; ${usualMs} if left out, at most ${longestMs}.`)
  const times: number[] = []
  let open = 0

  function hostNamed(name: string): SshHost {
    const found = access.hosts.find((each) => each.name === name)
    if (!found) throw notFound(`There is no host "${name}" in this profile. There are: ${names.join(', ')}.`)
    return found
  }

  function countOne(): void {
    const now = clock.monotonic()
    while (times[0] !== undefined && now - times[0] >= 60_000) times.shift()
    if (times.length >= mostPerMinute)
      throw limited(
        `No more than ${mostPerMinute} commands a minute are sent to other machines; wait a little.`,
        Math.ceil((60_000 - now + times[0]!) / 1_000),
      )
    if (open >= mostConnections)
      throw limited(`No more than ${mostConnections} connections are open at once; wait for one to end.`, 1)
    times.push(now)
  }

  /** Judged, asked about, counted and written down, in this order; then run. */
  async function perform(
    call: {
      tool: SshAudit['tool']
      host: string
      what: string
      input: Record<string, unknown>
      level?: number
      refused?: string
      needsApproval?: boolean
    },
    run: (host: SshHost) => Promise<SshRan>,
  ): Promise<SshRan> {
    const { tool: name, what, level } = call
    const entry = { tool: name, host: call.host, what, level }
    try {
      const target = hostNamed(call.host)
      if (call.refused !== undefined) throw denied(call.refused)
      await gateBy(permit)(name, call.input)
      if (call.needsApproval) await gateBy(approve)(name, call.input)
      countOne()
      open++
      try {
        await audit({ ...entry, state: 'begun' })
        const ran = await run(target)
        await audit({
          ...entry,
          state: 'ended',
          code: ran.code,
          bytes: Buffer.byteLength(ran.output) + Buffer.byteLength(ran.errors),
        })
        return ran
      } finally {
        open--
      }
    } catch (error) {
      const isRefusal = error instanceof PawlError && ['denied', 'limited', 'not_found'].includes(error.code)
      await audit({ ...entry, state: isRefusal ? 'refused' : 'failed', why: messageOf(error).slice(0, 500) })
      throw error
    }
  }

  return [
    tool({
      name: 'ssh_exec',
      description: `Run a command on another machine that this task may use (mode ${access.mode}, up to level P${access.level}). Commands that destroy something are asked about first.`,
      annotations: reaching,
      input: z.strictObject({
        host,
        command: z.string().min(1).max(8_192).describe('The command, as plain as possible.'),
        timeout,
      }),
      async run({ host, command, timeout: timeoutMs = usualMs }, _, signal) {
        const judged = judge(command, access)
        const judgement =
          judged.verdict === 'refuse'
            ? { refused: judged.why }
            : { level: judged.level, needsApproval: judged.verdict === 'approve' }
        const ran = await perform({ tool: 'ssh_exec', host, what: command, input: { host, command }, ...judgement }, (target) =>
          runOver(target, command, options, { timeoutMs, signal }),
        )
        return answerOf(ran, timeoutMs)
      },
    }),
    tool({
      name: 'ssh_read',
      description: 'Read a text file of another machine that this task may use.',
      annotations: { ...reaching, readOnlyHint: true, destructiveHint: false },
      input: z.strictObject({ host, path: z.string().min(1).max(4_096).describe('The whole path of the file.'), timeout }),
      async run({ host, path: written, timeout: timeoutMs = usualMs }, _, signal) {
        const path = readPathText(written)
        if (!path.startsWith('/')) throw invalid('Give the whole path of the file, from "/" on.')
        const refused = holdsSecrets(path) ? secretSentence(path) : undefined
        const quoted = `'${path.replaceAll("'", `'\\''`)}'`
        // Where the path really leads comes first, so that it can be judged before anybody sees what lies there.
        const command = `p=$(readlink -f -- ${quoted}) && test -f "$p" && printf '%s\\n' "$p" && head -c 1000000 -- "$p"`
        const call = {
          tool: 'ssh_read' as const,
          host,
          what: path,
          input: { host, path },
          level: 0,
          ...(refused === undefined ? {} : { refused }),
        }
        const ran = await perform(call, (target) => runOver(target, command, options, { timeoutMs, signal }))
        const end = ran.output.indexOf('\n')
        const real = ran.output.slice(0, end)
        if (ran.code !== 0 || end === -1)
          throw unavailable(`${path} on ${host} could not be read. ${ran.errors.trim().slice(0, 500)}`)
        if (holdsSecrets(real)) {
          await audit({ tool: 'ssh_read', host, what: real, state: 'refused', why: 'holds secrets' })
          throw denied(secretSentence(path))
        }
        const text = ran.output.slice(end + 1)
        if (text.includes('\0')) throw new PawlError('unsupported', `${path} on ${host} is no text.`)
        return text === '' ? `${path} is empty.` : withoutMiddle(text)
      },
    }),
    tool({
      name: 'ssh_connect',
      description:
        'List the machines that this task may use, or try whether one can be reached. There is no lasting connection: each command has its own.',
      annotations: { ...reaching, readOnlyHint: true, destructiveHint: false },
      input: z.strictObject({ host: host.optional() }),
      async run({ host: name }, _, signal) {
        if (name === undefined)
          return access.hosts.map((each) => `${each.name}: ${each.user}@${each.host}:${each.port}`).join('\n')
        const ran = await perform({ tool: 'ssh_connect', host: name, what: 'true', input: { host: name }, level: 0 }, (target) =>
          runOver(target, 'true', options, { timeoutMs: usualMs, signal }),
        )
        if (ran.code !== 0) throw unavailable(`${name} could not be reached. ${ran.errors.trim().slice(0, 500)}`)
        return `${name} can be reached.`
      },
    }),
  ]
}

const secretSentence = (path: string) =>
  `${path} holds keys or passwords, or leads to a file that does; it is not read at any level.`

function answerOf({ output, errors, code, ended }: SshRan, timeoutMs: number): string {
  const ends = {
    itself: code === 0 ? '' : code === 255 ? 'The connection failed, or the command ended with 255.' : `Exit code ${code}.`,
    timeout: `The connection was ended after ${timeoutMs} ms; the command may still be running there.`,
    too_much: 'The connection was ended because the command printed more than 1 MB; it may still be running there.',
    cancelled: 'The connection was ended because nobody waits for it any more; the command may still be running there.',
  }
  const text = [output.trimEnd(), errors.trimEnd()].filter((part) => part !== '').join('\n')
  return [withoutMiddle(text), ends[ended]].filter((part) => part !== '').join('\n') || 'Done; it printed nothing.'
}
