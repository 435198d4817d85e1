/** A task whose program ran when its worker died. It runs alone until a run of it ends in a way of its own, so that the next death shows whether it is the cause. */
export interface Suspect {
  /** When its worker was found dead. */
  readonly since: string
  readonly worker: string
  readonly host: string
  /** How long the lost run had lasted. */
  readonly lastedMs: number
  /** How often its worker has died while it ran, alone or not. */
  readonly deaths: number
  /** How long each run had lasted during which a worker died while nothing else ran. */
  readonly lostAlone: readonly number[]
}

/** So many deaths while only this task ran are no chance: a person decides. */
export const maxLostAlone = 2

const leastAloneMs = 60_000
const mostAloneMs = 15 * 60_000
/**
 * Twice as long as the lost run had lasted: what kills its worker in the same way as before does it while it is alone. After one death at most a quarter of an hour, because
 * a power cut makes suspects of tasks that ran for hours and did nothing wrong; with each further death four times as much.
 */
export const aloneMsOf = ({ lastedMs, deaths }: Pick<Suspect, 'lastedMs' | 'deaths'>) =>
  Math.max(leastAloneMs, Math.min(2 * lastedMs, mostAloneMs * 4 ** (deaths - 1)))

/** Why a task runs alone next, for people. */
export const whyAlone = (suspect: Pick<Suspect, 'lastedMs' | 'deaths'>) =>
  `its worker died while its program ran; for the first ${inSeconds(aloneMsOf(suspect))} of its next run nothing else starts`

export const inSeconds = (ms: number) => `${Math.round(ms / 1_000)} s`
