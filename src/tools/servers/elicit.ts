import type { ElicitRequestFormParams, ElicitResult } from '@modelcontextprotocol/client'
import type { ServerPlace, ServerQuestion } from './port.ts'

type Field = ElicitRequestFormParams['requestedSchema']['properties'][string]

const mostFields = 20

/** A form of a server as questions to a person, one for each of its fields. Nobody there: the server is told so, and the questions stay. */
export function eliciting(server: string, ask: NonNullable<ServerPlace['ask']>) {
  return async ({ message, requestedSchema }: ElicitRequestFormParams): Promise<ElicitResult> => {
    const fields = Object.entries(requestedSchema.properties)
    if (fields.length > mostFields) return { action: 'decline' }
    const said = `The server of tools "${server}" asks: ${message}`
    const questions =
      fields.length === 0
        ? [{ text: said, options: ['yes', 'no'] }]
        : fields.map(([name, field]) => questionOf(said, name, field))
    const answers = await ask(questions)
    if (!answers) return { action: 'cancel' }
    if (fields.length === 0) return answers[0] === 'yes' ? { action: 'accept', content: {} } : { action: 'decline' }
    const content = Object.fromEntries(
      fields.flatMap(([name, field], index) => {
        const value = answerAs(answers[index]?.trim() ?? '', field)
        return value === undefined ? [] : [[name, value]]
      }),
    )
    return { action: 'accept', content }
  }
}

const questionOf = (said: string, name: string, field: Field): ServerQuestion => ({
  text: `${said}\n\n${field.title ?? name}${field.description === undefined ? '' : `: ${field.description}`}${defaultOf(field)}`,
  options: 'enum' in field && Array.isArray(field.enum) ? field.enum : field.type === 'boolean' ? ['true', 'false'] : [],
})

const defaultOf = (field: Field) =>
  'default' in field && field.default !== undefined ? ` (${JSON.stringify(field.default)} if you leave it empty)` : ''

/** What cannot be read as what was asked for is left out; the server says what is wrong with that. */
function answerAs(answer: string, { type }: Field): string | number | boolean | string[] | undefined {
  if (answer === '') return undefined
  if (type === 'boolean') return /^(?:true|yes|y|1)$/i.test(answer)
  if (type === 'number' || type === 'integer') return Number.isFinite(Number(answer)) ? Number(answer) : undefined
  if (type === 'array') return answer.split(',').map((part) => part.trim())
  return answer
}
