import type { Command } from 'commander'
import type { DoctorReport } from '../../daemon/doctor/doctor.ts'
import { invalid } from '../../domain/error.ts'
import type { Cli } from '../terminal/cli.ts'
import { formatBytes } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'

interface DoctorOptions {
  fix?: boolean
  yes?: boolean
}

export function define(command: Command, cli: Cli): void {
  command
    .description('Check this machine for everything Pawl needs. Ends with 1 if something fails.')
    .option('--fix', 'repair what can be repaired, asking first')
    .option('--yes', 'with --fix: do not ask')
    .addHelpText('after', '\nExample\n  pawl doctor')
    .action(async (options: DoctorOptions) => {
      cli.exitCode = await doctor(cli, options)
    })
}

async function doctor(cli: Cli, options: DoctorOptions): Promise<number> {
  const [{ inspect }, { readUsableSettings }] = await Promise.all([
    import('../../daemon/doctor/doctor.ts'),
    import('../connecting/settings.ts'),
  ])
  const { config, problem } = await readUsableSettings(cli)
  const look = async () => withProblem(await inspect(config), problem)
  let report = await look()
  if (options.fix && (await repair(cli, report, options.yes === true))) report = await look()
  if (cli.globals.json) cli.json(report)
  else {
    const width = Math.max(...report.rows.map((row) => row.name.length))
    cli.out(`home ${oneLine(report.home)} (${formatBytes(report.sizeBytes)})`)
    for (const row of report.rows) {
      const line = `${marks[row.level].padEnd(4)}  ${oneLine(row.name).padEnd(width)}  ${oneLine(row.detail)}`
      cli.out(cli.style(tones[row.level], line, process.stdout))
      if (row.fix !== undefined && row.level !== 'ok') cli.out(`${' '.repeat(width + 8)}→ ${oneLine(row.fix)}`)
    }
  }
  return report.rows.some((row) => row.level === 'fail') ? 1 : 0
}

/** Settings that cannot be used are one more thing that is wrong; the rest was looked at without them. */
function withProblem(report: DoctorReport, problem: string | undefined): DoctorReport {
  if (problem === undefined) return report
  const row = {
    name: 'settings',
    level: 'fail',
    detail: problem,
    fix: 'correct the file; the other rows are as they are without it',
  } as const
  return { ...report, rows: report.rows.map((each) => (each.name === row.name ? row : each)) }
}

const marks = { ok: 'ok', note: 'note', warn: 'WARN', fail: 'FAIL' } as const
const tones = { ok: 'good', note: 'faint', warn: 'ask', fail: 'bad' } as const

/** Runs the fixes that are known to be safe commands. True if something was done. */
async function repair(cli: Cli, report: DoctorReport, isSure: boolean): Promise<boolean> {
  const { findRepairs, runRepair } = await import('../service/repair.ts')
  const repairs = await findRepairs(
    report.rows.filter((row) => row.level === 'warn' || row.level === 'fail'),
    report.home,
  )
  if (repairs.length === 0) {
    cli.say('There is nothing that Pawl can repair by itself here.')
    return false
  }
  let isDone = false
  for (const each of repairs) {
    if (!isSure) {
      if (!cli.isInteractive)
        throw invalid(`"pawl doctor --fix" asks before it runs "${each.shown}"; without a terminal, add --yes.`)
      const { confirm } = await import('../terminal/confirm.ts')
      if (!(await confirm(`${oneLine(each.name)}: run "${each.shown}"?`))) continue
    }
    cli.say(`Running: ${each.shown}`)
    await runRepair(each)
    isDone = true
  }
  return isDone
}
