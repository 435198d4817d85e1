import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { McpServerName } from '../../domain/agent/mcp-server.ts'
import { isObject, isObjectOrArray } from '../../domain/base/object.ts'
import { namesSecret } from '../../domain/base/secret-names.ts'
import { invalid, messageOf } from '../../domain/error.ts'
import { type Connection, withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { sayChanged } from '../terminal/settings-screen.ts'
import { oneLine } from '../text/plain.ts'

interface AddOptions {
  url?: string
  type?: string
  header?: string[]
  env?: string[]
  oauth?: true
  from?: string
}

type Entry = Record<string, unknown>

const examples = `
Examples
  pawl mcp-servers add files -- npx -y @modelcontextprotocol/server-filesystem .
  pawl mcp-servers add github --url https://api.githubcopilot.com/mcp/ --header 'Authorization: Bearer \${secret:GITHUB}'
  pawl mcp-servers add tracker --env 'TRACKER_TOKEN=\${secret:TRACKER}' -- tracker-mcp --stdio
  pawl mcp-servers add wiki --url https://wiki.example.com/mcp --oauth
  pawl mcp-servers add --from .mcp.json`

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'Add a server of tools to config.yaml of Pawl\'s home, for every agent. Keys are named, not written: ${secret:NAME} stands for what "pawl secret set NAME" has stored.',
    )
    .argument('[name]', 'what its tools are called by: mcp__NAME__tool')
    .argument('[command...]', 'the program and its arguments, behind --')
    .option('--url <url>', 'reach it by HTTP instead')
    .option('--type <type>', 'sse, for one that speaks only the older way of HTTP')
    .option('--header <line...>', 'sent with each request: "Name: value"')
    .option('--env <variable...>', 'a variable of its program: NAME=value')
    .option('--oauth', 'it asks for OAuth; afterwards: pawl mcp-servers sign-in NAME')
    .option('--from <file>', 'add all servers of a file such as .mcp.json; keys in it are moved into the secrets')
    .addHelpText('after', examples)
    .action((name: string | undefined, words: string[], options: AddOptions) => add(cli, name, words, options))
}

async function add(cli: Cli, name: string | undefined, words: string[], options: AddOptions): Promise<void> {
  const entries =
    options.from === undefined
      ? { [nameOf(name)]: entryOf(words, options) }
      : await readEntries(resolve(cli.cwd, options.from), name)
  await withConnection(cli, { work: 'none' }, async (connection) => {
    const set: Record<string, unknown> = {}
    for (const [server, entry] of Object.entries(entries))
      set[`mcpServers.${nameOf(server)}`] = options.from === undefined ? entry : await withoutKeys(server, entry, connection, cli)
    sayChanged(cli, await connection.runtime.changeSettings({ set }, { by: 'cli' }), connection.isDaemon)
    cli.say(`Look whether it works: pawl mcp-servers test ${Object.keys(entries)[0]}`)
  })
}

function nameOf(name: string | undefined): string {
  if (name === undefined) throw invalid('How is the server called? pawl mcp-servers add NAME -- program …, or --from FILE.')
  const read = McpServerName.safeParse(name)
  if (!read.success) throw invalid(`The name "${oneLine(name, 100)}" ${read.error.issues[0]!.message}.`)
  return name
}

function entryOf(words: string[], { url, type, header = [], env = [], oauth }: AddOptions): Entry {
  if ((url === undefined) === (words.length === 0)) throw invalid('Give either its program behind --, or --url; not both.')
  if (url !== undefined)
    return {
      ...(type === undefined ? {} : { type }),
      url,
      ...(header.length > 0 ? { headers: Object.fromEntries(header.map((line) => pair(line, ':', '--header'))) } : {}),
      ...(oauth ? { oauth: true } : {}),
    }
  const [command, ...args] = words
  return {
    command,
    ...(args.length > 0 ? { args } : {}),
    ...(env.length > 0 ? { env: Object.fromEntries(env.map((line) => pair(line, '=', '--env'))) } : {}),
  }
}

function pair(line: string, mark: string, option: string): [string, string] {
  const at = line.indexOf(mark)
  if (at <= 0) throw invalid(`${option} is written NAME${mark}${mark === ':' ? ' ' : ''}value.`)
  return [line.slice(0, at).trim(), line.slice(at + 1).trim()]
}

/** As other programs write them: all of the file, or the one that is named. */
async function readEntries(file: string, name: string | undefined): Promise<Record<string, Entry>> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw invalid(`The file ${file} cannot be read: ${messageOf(error)}.`)
  })
  let read: unknown
  try {
    read = JSON.parse(text)
  } catch {
    throw invalid(`The file ${file} is no JSON.`)
  }
  const servers = (read as { mcpServers?: unknown } | null)?.mcpServers
  if (!isObject(servers) || Object.keys(servers).length === 0)
    throw invalid(`The file ${file} names no servers; they are expected under "mcpServers".`)
  const all = servers as Record<string, Entry>
  if (name === undefined) return all
  const one = Object.hasOwn(all, name) ? all[name] : undefined
  if (!one) throw invalid(`The file ${file} has no server "${name}"; it has ${Object.keys(all).join(', ')}.`)
  return { [name]: one }
}

/** Keys that stand in the file go among the secrets, and their names into the settings. */
async function withoutKeys(server: string, entry: Entry, { secrets }: Connection, cli: Cli): Promise<Entry> {
  const moved = async (values: unknown): Promise<unknown> => {
    if (!isObjectOrArray(values)) return values
    const all = await Promise.all(
      Object.entries(values).map(async ([key, value]) => {
        const isKey = namesSecret(key) || /^authorization$/i.test(key)
        if (!isKey || typeof value !== 'string' || value.includes('${')) return [key, value] as const
        const [, prefix = '', secret = ''] = /^(Bearer |Basic |token )?(.*)$/is.exec(value) ?? []
        const name = `${server}.${key}`.slice(0, 64)
        await secrets.setSecret('global', name, secret, { by: 'cli' })
        cli.say(`${key} of "${server}" is now the secret ${name}.`)
        return [key, `${prefix}\${secret:${name}}`] as const
      }),
    )
    return Object.fromEntries(all)
  }
  return {
    ...entry,
    ...(entry.env === undefined ? {} : { env: await moved(entry.env) }),
    ...(entry.headers === undefined ? {} : { headers: await moved(entry.headers) }),
  }
}
