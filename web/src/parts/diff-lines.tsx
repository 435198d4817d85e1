import { useVirtualizer } from '@tanstack/react-virtual'
import { useMemo, useRef } from 'react'
import { besides, type DiffLine, type DiffPair } from '../data/diff.ts'
import styles from './diff-lines.module.css'

const rowPx = 20
/** Wider ones are cut: nobody reads a bundle of a megabyte on one line. */
const longestLine = 2_000

/** The lines of a difference, however many: only those in sight are made. */
export function DiffLines({ lines, isBeside, label }: { lines: readonly DiffLine[]; isBeside: boolean; label: string }) {
  const box = useRef<HTMLElement>(null)
  const pairs = useMemo(
    (): readonly DiffPair[] => (isBeside ? besides(lines) : lines.map((line) => ({ both: line }))),
    [lines, isBeside],
  )
  const longest = useMemo(() => Math.min(longestLine, Math.max(40, ...lines.map(({ text }) => widthOf(text)))), [lines])
  const rows = useVirtualizer({
    count: pairs.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowPx,
    overscan: 30,
  })
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section ref={box} className={styles.box} aria-label={label} tabIndex={0}>
      <div
        className={styles.all}
        style={{ height: rows.getTotalSize(), minWidth: isBeside ? undefined : `calc(${longest}ch + 9em)` }}
      >
        {rows.getVirtualItems().map(({ index, start }) => (
          <div key={index} className={styles.row} style={{ transform: `translateY(${start}px)` }}>
            <Pair pair={pairs[index]!} isBeside={isBeside} />
          </div>
        ))}
      </div>
    </section>
  )
}

const widthOf = (text: string) => text.length + 7 * (text.split('\t').length - 1)

function Pair({ pair, isBeside }: { pair: DiffPair; isBeside: boolean }) {
  if (!('both' in pair))
    return (
      <div className={styles.pair}>
        <Half line={pair.left} side="old" />
        <Half line={pair.right} side="now" />
      </div>
    )
  const { both } = pair
  if (both.kind === 'part' || both.kind === 'note') return <div className={styles[both.kind]}>{both.text}</div>
  return (
    <div className={`${styles.line} ${styles[both.kind]} ${isBeside ? styles.half : ''}`}>
      <LineNumber of={both.old} isOld />
      <LineNumber of={both.now} />
      <Text line={both} />
    </div>
  )
}

function Half({ line, side }: { line: DiffLine | undefined; side: 'old' | 'now' }) {
  if (!line) return <div className={styles.none} />
  return (
    <div className={`${styles.line} ${styles[line.kind]} ${styles.half}`}>
      <LineNumber of={line[side]} />
      <Text line={line} />
    </div>
  )
}

const LineNumber = ({ of, isOld = false }: { of: number | undefined; isOld?: boolean }) => (
  <span className={`${styles.number} ${isOld ? styles.old : ''}`}>{of}</span>
)

const signs = { added: '+', removed: '−', same: ' ', part: '', note: '' } as const

const Text = ({ line }: { line: DiffLine }) => (
  <>
    <span className={styles.sign}>{signs[line.kind]}</span>
    <span className={styles.text}>
      {line.text.slice(0, longestLine)}
      {line.text.length > longestLine && (
        <span className="faint"> … {(line.text.length - longestLine).toLocaleString()} more characters</span>
      )}
    </span>
  </>
)
