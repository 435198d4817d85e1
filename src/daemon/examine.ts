import type { Config } from '../config/config.ts'
import { messageOf } from '../domain/error.ts'
import type { DoctorReport, Finding } from '../domain/view/doctor.ts'

/** What "pawl doctor" looks at, from within the daemon: its own settings, and what has become of their files since it started. */
export async function examine(config: Config, onFinding: (finding: Finding) => void): Promise<DoctorReport> {
  const problem = await config.again().then(
    () => undefined,
    (error: unknown) => messageOf(error),
  )
  const broken: Finding = {
    name: 'settings',
    level: 'fail',
    detail: `the daemon goes on with those it started with: ${problem}`,
    fix: 'correct the file: pawl config check',
  }
  const told = (row: Finding) => (problem !== undefined && row.name === broken.name ? broken : row)
  const { inspect } = await import('./doctor/doctor.ts')
  const report = await inspect(config, (row) => onFinding(told(row)))
  return { ...report, rows: report.rows.map(told) }
}
