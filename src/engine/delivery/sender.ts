import type { Clock } from '../../base/clock.ts'
import { messageOf as sentenceOf } from '../../domain/error.ts'
import type { Notification, WebhookWay } from '../../domain/notification/notification.ts'
import type { Redactor } from '../../redact/redactor.ts'
import type { Resolve } from '../../sandbox/egress/lookup.ts'
import type { OutboxBody } from '../../store/tables.ts'
import type { Contexts } from '../../telemetry/contexts.ts'
import type { Secrets } from '../auth/secrets.ts'
import { type CommandParts, runCommand } from './command.ts'
import type { Message } from './message.ts'
import { type PushSender, sendPush } from './push/send.ts'
import { sendWebhook } from './webhook.ts'

/** What came of one try. */
export interface Sent {
  readonly delivered: boolean
  /** A sentence, without anything the other side said. */
  readonly detail: string
  /** How long the other side wants to be left alone. */
  readonly retryAfterMs?: number | undefined
  /** Nobody is there any more who could hear it, nor will be. */
  readonly isGone?: boolean | undefined
  /** A sentence for the journal of the task. */
  readonly note?: string | undefined
  /** Of a command. */
  readonly ran?: { readonly exitCode: number | null; readonly output: string; readonly durationMs: number } | undefined
}

export interface Sender {
  /** Ends at once when the signal aborts. */
  send(target: Notification, message: Message, signal: AbortSignal, traced?: OutboxBody['traced']): Promise<Sent>
  /** Reads the secrets that sign, so that they are kept out of everything that is stored or shown from now on. */
  learnSecrets(targets: readonly Notification[]): Promise<string[]>
}

export interface SenderParts extends Omit<CommandParts, 'redact' | 'signal'> {
  readonly clock: Clock
  readonly redactor: Redactor
  readonly secrets: Pick<Secrets, 'resolve'>
  readonly resolve?: Resolve | undefined
  /** What goes along with a webhook. */
  readonly contexts?: Pick<Contexts, 'ofTask'> | undefined
  /** Who speaks to the push services of browsers; without it none is spoken to. */
  readonly push?: PushSender | undefined
}

export function createSender(parts: SenderParts): Sender {
  const { clock, redactor, resolve } = parts
  const known = new Map<string, string>()

  const secretOf = async ({ secret }: WebhookWay, name: string): Promise<string> => {
    const value = 'env' in secret ? parts.environment([secret.env])[secret.env] : await storedSecret(secret.name)
    if (value === undefined || value === '')
      throw new Error(
        'env' in secret
          ? `The variable ${secret.env}, which holds the secret of "${name}", is not set for this Pawl.`
          : `The secret "${secret.name}", which signs what is sent to "${name}", is not set; set it with: pawl secret set ${secret.name}`,
      )
    if (known.get(name) !== value) redactor.add(`secret of ${name}`, value)
    // The key inside is as good as the whole.
    if (known.get(name) !== value && value.startsWith('whsec_')) redactor.add(`secret of ${name}`, value.slice('whsec_'.length))
    known.set(name, value)
    return value
  }
  // Only secrets for everybody: no run asks here.
  const storedSecret = async (name: string) =>
    (await parts.secrets.resolve([{ name, variable: name }], { agent: '', user: '' }).catch(() => []))[0]?.value

  return {
    async send(target, message, signal, traced) {
      const { way, name } = target
      try {
        if (way.kind === 'push')
          return await sendPush(way, message, { ...parts.push, clock, redact: redactor.value, resolve, signal })
        if (way.kind === 'a2a' || way.kind === 'recall') throw new Error(`what is sent by ${way.kind} has its own sender`)
        if (way.kind === 'command') return await runCommand(way, name, message, { ...parts, redact: redactor.value, signal })
        const secret = await secretOf(way, name)
        return await sendWebhook(way, message, {
          ...{ clock, secret, redact: redactor.value, resolve, signal },
          trace: traced && parts.contexts?.ofTask({ task: message.task.id, ...traced }),
        })
      } catch (error) {
        // Whatever it was, it is one failed try, kept with its reason.
        return { delivered: false, detail: redactor.text(sentenceOf(error)) }
      }
    },
    async learnSecrets(targets) {
      const missing: string[] = []
      for (const { way, name } of targets)
        if (way.kind === 'webhook') await secretOf(way, name).catch((error: unknown) => missing.push(sentenceOf(error)))
      return missing
    },
  }
}
