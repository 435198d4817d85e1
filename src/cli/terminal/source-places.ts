import { existsSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'

const place = /file:\/\/[^\s:()]+\/([\w-]+\.js):(\d+):(\d+)/g
/** Where this module and, in a bundle, all others lie. */
const here = new URL('.', import.meta.url).href
/** What goes wrong again and again goes wrong at the same places. */
const known = new Map<string, string>()
const mostKnown = 1_000

/** What a text says of places in a bundle of ours, said of the sources. Maps are read only here: a process that knew them all the time would hold several MB more. */
export function nameSources(text: string): string {
  const maps = new Map<string, SourceMap | undefined>()
  return text.replaceAll(place, (said: string, file: string, line: string, column: string) => {
    if (!said.startsWith(`${here}${file}:`)) return said
    if (!maps.has(file) && !known.has(said)) maps.set(file, readMap(new URL(`${file}.map`, here)))
    const source = known.get(said) ?? sourceAt(maps.get(file), Number(line), Number(column))
    if (source !== undefined && known.size < mostKnown) known.set(said, source)
    return source ?? said
  })
}

const readMap = (url: URL) => (existsSync(url) ? new SourceMap(JSON.parse(readFileSync(url, 'utf8'))) : undefined)

function sourceAt(map: SourceMap | undefined, line: number, column: number): string | undefined {
  const origin = map?.findOrigin(line, column)
  if (!origin || !('fileName' in origin)) return undefined
  return `${origin.fileName.replace(/^(\.\.\/)+/, '')}:${origin.lineNumber}:${origin.columnNumber}`
}
