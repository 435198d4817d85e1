import { oneLine, widthOf } from './plain.ts'

const gap = '  '

/** Columns under their names. The last one is cut to what is left of `width`, if there is one. */
export function table(head: string[], rows: string[][], width: number | undefined): string {
  const all = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...all.map((row) => widthOf(row[column] ?? ''))))
  const before = widths.slice(0, -1).reduce((sum, each) => sum + each + gap.length, 0)
  const room = width === undefined ? undefined : Math.max(10, width - before)
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
