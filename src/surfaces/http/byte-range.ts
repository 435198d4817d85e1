/** One part of a file, the end not included. */
export interface ByteRange {
  readonly from: number
  readonly to: number
}

/** What a Range header asks for: undefined if it asks for nothing that we give in parts (then all is sent), `beyond` if it begins after the end. */
export function byteRange(header: string | undefined, size: number): ByteRange | 'beyond' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '') ?? []
  if (first === '' && last === '') return undefined
  if (first === '') {
    const count = Math.min(Number(last), size)
    return count === 0 ? 'beyond' : { from: size - count, to: size }
  }
  const from = Number(first)
  if (from >= size) return 'beyond'
  if (last !== '' && Number(last) < from) return undefined
  return { from, to: last === '' ? size : Math.min(Number(last) + 1, size) }
}
