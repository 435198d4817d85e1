import { memo } from 'react'
import { formatClock } from '../../../src/cli/text/format.ts'
import type { Item } from '../data/timeline.ts'
import styles from './timeline-item.module.css'
import { TimelineSaid } from './timeline-said.tsx'
import { type ItemProps, TimelineTool } from './timeline-tool.tsx'

/** One thing that happened. What an agent says is read as markdown; tools are one line until they are opened. */
export const TimelineItem = memo(function TimelineItem({
  item,
  isFound = false,
  ...how
}: { item: Item; isFound?: boolean } & ItemProps) {
  const { event } = item
  const depth = item.kind === 'tool' ? (item.depth ?? 0) : 0
  return (
    <div className={`${styles.item} ${isFound ? styles.found : ''}`}>
      <time className={styles.time} dateTime={event.at} title={new Date(event.at).toLocaleString()}>
        {formatClock(event.at)}
      </time>
      <div
        className={`${styles.body} ${depth > 0 ? styles.within : ''}`}
        style={depth > 1 ? { marginLeft: (depth - 1) * 16 } : {}}
      >
        {depth > 0 && <span className="hidden-but-read">of a subagent: </span>}
        {item.kind === 'tool' ? <TimelineTool item={item} {...how} /> : <TimelineSaid item={item} {...how} />}
      </div>
    </div>
  )
})
