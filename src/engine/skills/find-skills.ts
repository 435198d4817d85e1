import { readdirSync, statSync } from 'node:fs'
import { lstat, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type SkillView, type SubagentView, skillName } from '../../domain/agent/skill.ts'
import { invalid, PawlError } from '../../domain/error.ts'
import { Name } from '../../domain/id.ts'
import { descriptionIn, readFrontMatter } from './front-matter.ts'
import { type FolderFile, readFolder } from './read-folder.ts'

/** Whose skills: everybody's, and over these the user's own. */
export interface SkillPlace {
  readonly home: string
  readonly user: string
}

export interface FoundSkill {
  readonly view: SkillView
  /** Empty if there is a problem. */
  readonly files: readonly FolderFile[]
  /** The file to run, relative to the skill, if it is one of scripts. */
  readonly script?: string | undefined
}

export interface FoundSubagent {
  readonly view: SubagentView
  readonly prompt: string
  readonly tools?: readonly string[] | undefined
  readonly model?: string | undefined
}

/** The skills that runs of this user could be given, by name; one with a problem is listed with it. Nobody's own but theirs are looked at. */
export const findSkills = (place: SkillPlace): Promise<FoundSkill[]> =>
  findEach(place, 'skills', (entry) => entry.isDirectory || entry.isLink, readSkill)

/** The same for subagents, each of which is one file. */
export const findSubagents = (place: SkillPlace): Promise<FoundSubagent[]> =>
  findEach(place, 'subagents', (entry) => entry.name.endsWith('.md'), readSubagent)

interface Entry {
  readonly name: string
  readonly isDirectory: boolean
  readonly isLink: boolean
}

async function findEach<Found extends { view: { name: string } }>(
  { home, user }: SkillPlace,
  folder: string,
  isOne: (entry: Entry) => boolean,
  read: (path: string, entry: string, scope: SkillView['scope']) => Promise<Found>,
): Promise<Found[]> {
  const found = new Map<string, Found>()
  // A user of another name has no folder; it could lead anywhere.
  const own = Name.safeParse(user).success ? [['user', join(home, 'users', user, folder)] as const] : []
  for (const [scope, path] of [['global', join(home, folder)] as const, ...own]) {
    for (const entry of entriesOf(path)) {
      if (entry.name.startsWith('.') || !isOne(entry)) continue
      const one = await read(join(path, entry.name), entry.name, scope)
      found.set(one.view.name, one)
    }
  }
  return [...found.values()].toSorted((a, b) => (a.view.name < b.view.name ? -1 : 1))
}

function entriesOf(path: string): Entry[] {
  try {
    // Mostly there is none, and an error takes longer to make than the look.
    if (!statSync(path, { throwIfNoEntry: false })) return []
    const entries = readdirSync(path, { withFileTypes: true })
    return entries.map((entry) => ({ name: entry.name, isDirectory: entry.isDirectory(), isLink: entry.isSymbolicLink() }))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw new PawlError('unavailable', `${path} cannot be read (${code}); check its permissions.`, { cause: error })
  }
}

async function readSkill(path: string, name: string, scope: SkillView['scope']): Promise<FoundSkill> {
  let kind: SkillView['kind'] = 'instructions'
  let description = ''
  try {
    checkName(name)
    const files = await readFolder(path)
    const page = files.find((file) => file.path === 'SKILL.md')
    if (!page) throw invalid('has no SKILL.md')
    const written = readFrontMatter(page.content.toString('utf8'))
    const { script } = written.fields
    if (script !== undefined) kind = 'script'
    description = descriptionIn(written)
    if (script === undefined) return { view: { name, scope, kind, description, problem: null }, files }
    if (typeof script !== 'string' || !files.some((file) => file.path === script))
      throw invalid(`names a script that it does not hold, ${JSON.stringify(script)}`)
    const runnable = files.map((file) => (file.path === script ? { ...file, isExecutable: true } : file))
    return { view: { name, scope, kind, description, problem: null }, files: runnable, script }
  } catch (error) {
    return { view: { name, scope, kind, description, problem: problemOf(error) }, files: [] }
  }
}

async function readSubagent(path: string, file: string, scope: SkillView['scope']): Promise<FoundSubagent> {
  const name = file.slice(0, -'.md'.length)
  let description = ''
  try {
    checkName(name)
    const text = await readOne(path)
    const written = readFrontMatter(text)
    description = descriptionIn(written)
    const { tools, model } = written.fields
    if (model !== undefined && typeof model !== 'string') throw invalid('names a model that is no text')
    if (written.body === '') throw invalid('has no text after its front matter; that is what it is told')
    return { view: { name, scope, description, problem: null }, prompt: written.body, tools: toolsIn(tools), model }
  } catch (error) {
    return { view: { name, scope, description, problem: problemOf(error) }, prompt: '' }
  }
}

const longestSubagent = 64 * 1024

async function readOne(path: string): Promise<string> {
  const found = await lstat(path)
  if (!found.isFile()) throw invalid('is no regular file')
  if (found.size > longestSubagent) throw invalid(`has more than ${longestSubagent / 1024} KiB`)
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw invalid(`cannot be read (${error.code})`)
  })
}

function toolsIn(tools: unknown): string[] | undefined {
  if (tools === undefined || tools === null) return undefined
  const list = typeof tools === 'string' ? tools.split(',').map((tool) => tool.trim()) : tools
  if (!Array.isArray(list) || !list.every((tool) => typeof tool === 'string' && tool !== ''))
    throw invalid('has tools that are no list of names')
  return list as string[]
}

function checkName(name: string): void {
  if (!skillName.test(name)) throw invalid('has a name with more than letters, digits, dash and underscore, or than 40 of them')
}

/** What is wrong with one must not keep the others away, whatever it is. */
const problemOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
