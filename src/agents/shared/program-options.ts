import { z } from 'zod'
import { wireNames } from '../../domain/agent/models.ts'
import { isPlainBelow } from '../../domain/base/path.ts'

export const Argument = z.string().refine((text) => !text.includes('\0'), 'an argument cannot hold a NUL character')
export const Flag = Argument.regex(/^-/, 'a flag begins with a dash, like --model or -m')
/** Those of our own are left out: what they hold is not for agents. */
export const Variable = z
  .string()
  .regex(
    /^(?!PAWL_)[A-Za-z_][A-Za-z0-9_]*$/,
    'must be the name of a variable, like OPENAI_API_KEY, that does not begin with PAWL_',
  )
export const homePath = (example: string) =>
  z.string().refine(isPlainBelow, `must be a path inside the home of the session, like ${example}`)

/** What a program is called by; `example` is a list of its words. */
export const commandLine = (example: string) =>
  z
    .union([z.string().regex(/^[^\s\0]+$/), z.array(Argument).min(1)], {
      error: `must be a list of the program and its arguments, for example ${example}`,
    })
    .describe('The program, or a list of the program and its fixed arguments. No shell reads them.')

/** What the settings say of any program of which nothing else is known. */
export const programOptions = {
  modelVariable: Variable.optional().describe('A variable that holds the name of the model.'),
  wire: z
    .enum(wireNames)
    .optional()
    .describe('The format in which it asks for its model, at PAWL_MODEL_URL with PAWL_MODEL_KEY as its key.'),
  baseUrlVariable: Variable.optional().describe('The variable in which the program looks for the address of its model.'),
  retries: z
    .boolean()
    .default(false)
    .describe(
      'It asks again by itself, for long and unseen, when its model refuses for a while. With wire, it is then given no reason to: Pawl tries again.',
    ),
  keys: z.array(Variable).default([]).describe('Variables that can hold its key, the preferred one first.'),
  hosts: z.array(z.string().min(1)).optional().describe('Whom the program itself talks to, as network rules.'),
  versionArgs: z.array(Argument).optional().describe('Arguments that make the program print its version.'),
  install: z.string().min(1).optional().describe('The command that installs the program.'),
}

/** What no single one of them shows. */
export function checkProgram({ retries, wire }: { retries: boolean; wire?: string | undefined }, refuse: z.RefinementCtx): void {
  if (retries && wire === undefined)
    refuse.addIssue({
      code: 'custom',
      path: ['retries'],
      message: 'retries is used with wire only: without it Pawl does not see what the program asks',
    })
}

export interface ProgramOptions {
  readonly command: string | readonly string[]
  readonly keys: readonly string[]
  readonly versionArgs?: readonly string[] | undefined
  readonly install?: string | undefined
}

/** The program and its fixed arguments. */
export const wordsOf = ({ command }: Pick<ProgramOptions, 'command'>): readonly string[] =>
  typeof command === 'string' ? [command] : command
