import { asObject, type Fields } from '../../domain/base/object.ts'
import { text } from '../shared/fields.ts'

/** What programs say beside the protocol, in the `_meta` of an update, that decides how a turn is judged. */
export type Aside =
  /** It tries a call of its model again by itself. */
  | { readonly kind: 'retrying'; readonly detail: string }
  /** Its turn has failed. It will say so as if that were its answer, and end the turn as if it had ended well. */
  | { readonly kind: 'failed' }

export function asideOf(update: Fields): Aside | undefined {
  const meta = asObject(update._meta)
  if (update.sessionUpdate !== 'session_info_update' || !meta) return undefined
  for (const own of Object.values(meta).map(asObject)) {
    const error = asObject(own?.error)
    if (error?.willRetry === true) {
      const details = [text(error.message), text(error.additionalDetails)].filter((part) => part !== undefined && part !== '')
      return { kind: 'retrying', detail: details.join(': ') }
    }
    if (asObject(own?.threadStatus)?.type === 'systemError') return { kind: 'failed' }
  }
  return undefined
}
