import { oneLine, widthOf } from './plain.ts'

const gap = '  '

/** What the last column needs to say anything. */
const leastLast = 16

/**
 * Columns under their names. The last one is cut to what is left of `width`, if there is one; where that is too little, columns go
 * in the order of `dispensable`, and then the others are cut too.
 */
export function table(head: string[], rows: string[][], width: number | undefined, dispensable: readonly string[] = []): string {
  const all = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...all.map((row) => widthOf(row[column] ?? ''))))
  const before = widths.slice(0, -1).reduce((sum, each) => sum + each + gap.length, 0)
  if (width !== undefined && width - before < leastLast) {
    const column = head.indexOf(dispensable[0] ?? '')
    if (column >= 0) {
      const [kept, ...others] = all.map((row) => row.toSpliced(column, 1))
      return table(kept!, others, width, dispensable.slice(1))
    }
    const widest = widths.slice(0, -1).indexOf(Math.max(...widths.slice(0, -1)))
    const narrower = Math.max(6, widths[widest]! - (leastLast - (width - before)))
    if (narrower < widths[widest]!) {
      const [kept, ...others] = all.map((row) => row.with(widest, oneLine(row[widest]!, narrower)))
      return table(kept!, others, width)
    }
  }
  const room = width === undefined ? undefined : Math.max(1, width - before)
  return all
    .map((row) =>
      row
        .map((cell, column) => {
          if (column < row.length - 1) return cell + ' '.repeat(widths[column]! - widthOf(cell))
          return room === undefined ? cell : oneLine(cell, room)
        })
        .join(gap)
        .trimEnd(),
    )
    .join('\n')
}
