import type { Command } from 'commander'
import { invalid, messageOf, notFound } from '../../domain/error.ts'
import type { CheckView, VerifyView } from '../../domain/task/check.ts'
import type { Runtime } from '../../operations/runtime.ts'
import { withConnection } from '../connecting/connect.ts'
import { findTask } from '../finding/find-task.ts'
import type { Cli } from '../terminal/cli.ts'
import { printData } from '../terminal/terminal.ts'
import { formatTime } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'

interface VerifyOptions {
  again?: boolean
  from?: string
  output?: string | true
}

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'Say whether the work of a task is proved: by which checks, for which tree, and whether the workspace is still that one.',
    )
    .argument('[task]', 'its id, the end or beginning of it, or "last"')
    .option('--again', 'run its checks once more, behind the same walls')
    .option('--from <file>', 'look at what "pawl verify --json" printed earlier instead; needs neither daemon nor database')
    .option('--output [number]', 'print what a check printed instead: that with this number, or the last one')
    .addHelpText('after', examples)
    .action((named: string | undefined, options: VerifyOptions) => verify(cli, named, options))
}

const examples = `
Examples
  pawl verify last
  pawl verify last --again
  pawl verify last --output 1
  pawl verify last --json > ../proof.json && pawl verify --from ../proof.json

Ends with 0 if it is proved and with 5 if it is not.`

async function verify(cli: Cli, named: string | undefined, { again, from, output }: VerifyOptions): Promise<void> {
  if ((named === undefined) === (from === undefined)) throw invalid('Name a task, or a file with --from; not both.')
  if (again && from !== undefined) throw invalid('--again needs the task itself; what is in a file cannot be run.')
  if (output !== undefined && (again || from !== undefined))
    throw invalid('--output prints what was kept of a check; leave out --again and --from.')
  if (from !== undefined) return tell(cli, await verdictFrom(cli, from))
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const id = await findTask(runtime, named!)
    if (output !== undefined) return printOutput(cli, runtime, id, output)
    if (again) await runAgain(runtime, id)
    tell(cli, await runtime.verifyTask(id))
  })
}

async function printOutput(cli: Cli, runtime: Runtime, id: string, asked: string | true): Promise<void> {
  if (asked !== true && !/^[1-9]\d{0,5}$/.test(asked))
    throw invalid(`--output takes the number of a check, as "pawl verify" lists them, not "${oneLine(asked, 60)}".`)
  const number = asked === true ? (await runtime.listChecks(id)).items.at(-1)?.number : Number(asked)
  if (number === undefined) throw notFound(`No check of task ${id} has been run yet, so none has printed anything.`)
  const printed = await runtime.readCheckOutput(id, number)
  if (cli.globals.json) {
    cli.json(printed)
    return
  }
  if (printed.output === null) throw notFound(`What check ${number} of task ${id} printed is not kept here any more.`)
  if (printed.leftOut > 0) cli.say(`The ${printed.leftOut} characters before this are left out.`)
  printData(printed.output)
}

/** Begun by whoever has the engine; we look until they have ended. */
async function runAgain(runtime: Runtime, id: string): Promise<void> {
  const before = (await runtime.recheckTask(id, { by: 'cli' })).items.length
  for (let delayMs = 50; ; delayMs = Math.min(delayMs * 2, 1_000)) {
    const proof = await runtime.listChecks(id)
    if (proof.trouble !== null) throw invalid(proof.trouble)
    if (!proof.isChecking) {
      if (proof.items.length === before)
        throw invalid('The task has been started again meanwhile, so its checks were not counted.')
      return
    }
    await new Promise((look) => setTimeout(look, delayMs))
  }
}

/** Loaded only here: a start of any other command should not pay for schemas. */
async function verdictFrom(cli: Cli, file: string): Promise<VerifyView> {
  const [{ createHash }, { readFile }, { resolve }, { judgeProof, ProofView }] = await Promise.all([
    import('node:crypto'),
    import('node:fs/promises'),
    import('node:path'),
    import('../../domain/task/check.ts'),
  ])
  const text = await readFile(resolve(cli.cwd, file), 'utf8').catch((error: unknown) => {
    throw invalid(`${oneLine(file)} cannot be read: ${messageOf(error)}`)
  })
  const parsed = ProofView.safeParse(asJson(text))
  if (!parsed.success) throw invalid(`${oneLine(file)} does not hold what "pawl verify --json" prints.`)
  return judgeProof(parsed.data, undefined, (told) => createHash('sha256').update(told).digest('hex'))
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Said by the caller, together with JSON of another shape.
    return undefined
  }
}

function tell(cli: Cli, verdict: VerifyView): void {
  cli.exitCode = verdict.verified ? 0 : 5
  if (cli.globals.json) {
    cli.json(verdict)
    return
  }
  const word = verdict.verified ? cli.style('good', 'verified', process.stdout) : cli.style('bad', 'NOT VERIFIED', process.stdout)
  cli.out(`${word}: ${oneLine(verdict.why)}`)
  for (const check of verdict.items) cli.out(`  ${lineOf(check)}`)
  if (verdict.tree.proved !== null) cli.out(`tree   ${oneLine(verdict.tree.proved)}${sameness[String(verdict.tree.isSame)]}`)
  if (verdict.chain.head !== null)
    cli.out(
      `chain  ${verdict.chain.isWhole ? 'whole' : 'BROKEN'}, ${verdict.chain.checks === 1 ? '1 check' : `${verdict.chain.checks} checks`}, head ${oneLine(verdict.chain.head)}`,
    )
}

const sameness: Record<string, string> = { true: ' (the workspace has it)', false: ' (the workspace has another one)', null: '' }

function lineOf(check: CheckView): string {
  const how = check.why ?? (check.exitCode === 0 ? 'passed' : `exit code ${check.exitCode}`)
  const changed = check.tree !== check.treeBefore ? ', it changed the workspace' : ''
  return `${check.number}. ${oneLine(check.name, 100)}: ${oneLine(how)} at ${formatTime(check.endedAt)}${changed}`
}
