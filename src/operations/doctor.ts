import type { Clock } from '../base/clock.ts'
import { messageOf, unsupported } from '../domain/error.ts'
import type { DoctorReport, DoctorView, Finding } from '../domain/view/doctor.ts'

export interface DoctorVerbs {
  /** What is wrong with this machine, as far as it is known by now. Looks anew if that was long ago or `fresh` is asked for; one look at a time. */
  inspect(options?: { fresh?: boolean | undefined }): Promise<DoctorView>
}

export interface DoctorVerbParts {
  readonly clock: Clock
  readonly home: string
  /** Looks at everything, and tells each thing as it is found. */
  readonly examine?: ((onFinding: (finding: Finding) => void) => Promise<DoctorReport>) | undefined
}

/** What was found is believed for so long. */
const keptMs = 5 * 60_000

export function doctorVerbs({ clock, home, examine }: DoctorVerbParts): DoctorVerbs {
  let last: { view: DoctorView; atMs: number } | undefined
  return {
    async inspect({ fresh = false } = {}) {
      if (!examine) throw unsupported('Nobody can be looked at from here; use "pawl doctor" on the machine itself.')
      const isOld = !last || clock.now() - last.atMs > keptMs
      if (!last?.view.isRunning && (fresh || isOld)) {
        const atMs = clock.now()
        const startedAt = new Date(atMs).toISOString()
        const look: { view: DoctorView; atMs: number } = {
          atMs,
          view: { startedAt, isRunning: true, home, sizeBytes: null, rows: [] },
        }
        last = look
        void examine((finding) => {
          look.view = { ...look.view, rows: [...look.view.rows, finding] }
        }).then(
          ({ rows, sizeBytes }) => {
            look.view = { ...look.view, isRunning: false, sizeBytes, rows: [...rows] }
          },
          (error: unknown) => {
            const rows: Finding[] = [...look.view.rows, { name: 'doctor', level: 'fail', detail: messageOf(error) }]
            look.view = { ...look.view, isRunning: false, rows }
          },
        )
      }
      return last!.view
    },
  }
}
