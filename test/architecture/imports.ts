import { dirname, join } from 'node:path/posix'

/** The text of each file, by its path below `src`. */
export type Sources = ReadonlyMap<string, string>

/** `lazy` is loaded when first needed; `type` leaves nothing at run time. A reader has to know the other file all the same. */
export interface Import {
  readonly path: string
  readonly kind: 'value' | 'type' | 'lazy'
}

/** Helpers of tests that lie beside what they help to test. Nothing else in `src` is exempt from any rule. */
export const isTestFile = (file: string): boolean => /\.test\.ts$|(^|\/)testing\.ts$/.test(file)

export const productOf = (sources: Sources): Sources => new Map([...sources].filter(([file]) => !isTestFile(file)))

const comment = /^\s*(?:\/\/|\/?\*).*$/gm
const statement =
  /^[ \t]*(?:import|export)\b(?<type>\s+type\b)?(?<names>[^'"`;()=]*?)\bfrom\s*(?<quote>['"`])(?<path>[^'"`]+)\k<quote>/gm
const sideEffect = /^[ \t]*import\s*(?<quote>['"`])(?<path>[^'"`]+)\k<quote>/gm
const call =
  /(?<typeof>\btypeof\s+)?\bimport\(\s*(?<quote>['"`])(?<path>[^'"`]+)\k<quote>[^)]*\)(?<member>\.(?!then\b|catch\b|finally\b)\w+)?/g
const url = /\bnew URL\(\s*(?<quote>['"`])(?<path>\.[^'"`]+\.[jt]s)\k<quote>/g

/** Lists what a source text imports from files: statements, `export … from`, side effects, `import()`, types by `import('…').X`, and files named by `new URL`. */
export function importsIn(text: string): Import[] {
  const code = text.replaceAll(comment, '')
  const found: Import[] = []
  const add = (path: string, kind: Import['kind']) => path.startsWith('.') && found.push({ path, kind })
  for (const { groups } of code.matchAll(statement))
    add(groups!.path!, groups!.type || hasOnlyTypes(groups!.names!) ? 'type' : 'value')
  for (const { groups } of code.matchAll(sideEffect)) add(groups!.path!, 'value')
  for (const { groups } of code.matchAll(call)) add(groups!.path!, groups!.typeof || groups!.member ? 'type' : 'lazy')
  for (const { groups } of code.matchAll(url)) add(groups!.path!, 'lazy')
  return found
}

function hasOnlyTypes(names: string): boolean {
  const inBraces = /^\s*\{(?<list>[^}]*)\}\s*$/.exec(names)?.groups?.list
  return inBraces?.split(',').every((name) => /^\s*(type\s.*)?$/s.test(name)) ?? false
}

/** Lists `import()` of something that is not a literal, which no rule here could see. */
export const unseenImports = (sources: Sources): string[] =>
  [...productOf(sources)]
    .filter(([, text]) => /\bimport\(\s*(?!['"`][^'"`$]+['"`])/.test(text.replaceAll(comment, '')))
    .map(([file]) => file)

interface Edge {
  readonly from: string
  /** Below `src`; what lies outside begins with `../`. */
  readonly to: string
  readonly kind: Import['kind']
}

const edgesOf = (sources: Sources): Edge[] =>
  [...sources].flatMap(([from, text]) => importsIn(text).map(({ path, kind }) => ({ from, to: join(dirname(from), path), kind })))

const isIn = (file: string, place: string) => {
  const bare = file.replace(/\.(ts|js|json)$/, '')
  return file === place || bare === place || bare.startsWith(`${place}/`)
}

const tell = ({ from, to, kind }: Edge) => `${from} imports ${to}${kind === 'value' ? '' : ` (${kind})`}`

/** Says which file imports a part that its own part's row does not name. A part is a folder of `src` or a file directly in it. */
export function partOffences(
  sources: Sources,
  allowed: Readonly<Record<string, readonly string[]>>,
  everybody: readonly string[],
): string[] {
  const partOf = (file: string) => file.replace(/\.(ts|js|json)$/, '').split('/')[0]!
  return edgesOf(productOf(sources)).flatMap((edge) => {
    const part = partOf(edge.from)
    const row = allowed[part]
    if (!row) return [`${part} has no row in the table`]
    const target = partOf(edge.to)
    const isAllowed =
      target === part ||
      everybody.includes(target) ||
      row.some((entry) => (entry === '*' ? target !== '..' : isIn(edge.to, entry)))
    return isAllowed ? [] : [tell(edge)]
  })
}

/**
 * The rooms of a folder, the lowest first: subfolders, files that lie loose in it, and `.` for all other loose files together. Each may import those before it.
 * Rooms in a list of their own stand side by side and know nothing of each other.
 */
export type Layers = readonly (string | readonly string[])[]

/** Says which file of a folder imports a room that is not below its own, and which has no place in the order. */
export function layerOffences(sources: Sources, layers: Readonly<Record<string, Layers>>): string[] {
  const edges = edgesOf(productOf(sources))
  const files = [...productOf(sources).keys()]
  return Object.entries(layers).flatMap(([folder, order]) => {
    const heights = new Map(order.flatMap((rooms, height) => [rooms].flat().map((room) => [room, height] as const)))
    const inside = files.filter((file) => file.startsWith(`${folder}/`))
    const roomOf = (file: string) => {
      const [first, ...rest] = file.slice(folder.length + 1).split('/') as [string, ...string[]]
      return rest.length > 0 || heights.has(first) ? first : '.'
    }
    const lost = inside
      .filter((file) => !heights.has(roomOf(file)))
      .map((file) => `${file} has no place in the order of ${folder}`)
    const gone = [...heights.keys()]
      .filter((room) => !inside.some((file) => roomOf(file) === room))
      .map((room) => `${folder}/${room} is in the order but not there`)
    const upward = edges.filter(({ from, to }) => {
      if (!from.startsWith(`${folder}/`) || !to.startsWith(`${folder}/`)) return false
      const [mine, theirs] = [roomOf(from), roomOf(to)]
      return mine !== theirs && heights.has(mine) && heights.has(theirs) && heights.get(theirs)! >= heights.get(mine)!
    })
    return [...lost, ...gone, ...upward.map(tell)]
  })
}

/** Says which file of the product imports a test or a helper of tests. */
export const testHelpersInProduct = (sources: Sources): string[] =>
  edgesOf(productOf(sources))
    .filter(({ to }) => isTestFile(to) || to.startsWith('../test/'))
    .map(tell)

/** Folders with subfolders that have no order. */
export const unordered = (sources: Sources, layers: Readonly<Record<string, Layers>>): string[] =>
  [
    ...new Set([...productOf(sources).keys()].filter((file) => file.split('/').length > 2).map((file) => file.split('/')[0]!)),
  ].filter((folder) => !Object.hasOwn(layers, folder))
