import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../../../../src/domain/error.ts'
import type { SettingRow, SettingsChanged, SettingsView } from '../../../../src/domain/view/settings.ts'
import { asked } from '../../data/asked.ts'
import { pawl } from '../../data/pawl.ts'
import { Badge } from '../../parts/badge.tsx'
import { Shown } from '../../parts/states.tsx'
import { Wide } from '../../parts/wide.tsx'
import styles from './config.module.css'
import { readValue, writtenValue } from './values.ts'

/** Blocks that people look for first, with what they are about. */
const blocks: readonly (readonly [string, string])[] = [
  ['limits', 'Limits'],
  ['budget', 'Money'],
  ['timeouts', 'Time'],
  ['retry', 'Tries'],
  ['questions', 'Questions'],
  ['guardrails', 'Guardrails'],
  ['agents', 'Agents'],
]

/** Every setting in force: where it was decided, what it means, and a field to change it in the home's own file. */
export function Config() {
  const settings = useQuery(asked.settings)
  return (
    <section className="card stack" aria-labelledby="config">
      <h2 id="config">Settings in force</h2>
      <Shown asked={settings}>{(found) => <Rows found={found} />}</Shown>
    </section>
  )
}

function Rows({ found }: { found: SettingsView }) {
  const [text, setText] = useState('')
  const [edited, setEdited] = useState<string>()
  const [isAll, setAll] = useState(false)
  const client = useQueryClient()
  const [changed, setChanged] = useState<SettingsChanged>()
  const tell = (done: SettingsChanged) => {
    // The next change stands on this one, also before all is asked for anew.
    client.setQueryData(asked.settings.queryKey, (known) => known && { ...known, hash: done.hash })
    setChanged(done)
  }
  const undo = useMutation({ mutationFn: () => pawl.undoSettings(), onSuccess: tell })
  const take = useMutation({ mutationFn: () => pawl.changeSettings({}), onSuccess: tell })
  const failed = [undo, take].find(({ isError }) => isError)
  const fitting = found.settings.filter(
    ({ path, about }) =>
      `${path} ${about ?? ''}`.toLowerCase().includes(text.toLowerCase()) && (isAll || text !== '' || isFirst(path)),
  )
  return (
    <>
      <p className="small faint">
        Changes go into <code>{found.file}</code>; comments in it stay.
        {found.projectFile && (
          <>
            {' '}
            What <code>{found.projectFile}</code> says wins over it.
          </>
        )}
      </p>
      {found.problem && (
        <p role="alert" className={styles.bad}>
          The files cannot be used as they are now; what was read before goes on to count. {found.problem}
        </p>
      )}
      {found.waiting.length > 0 && (
        <div className={styles.waiting}>
          <p>
            The files say otherwise than what is in force: {found.waiting.map(({ path }) => path).join(', ')}. What needs no
            restart is taken up at once; for the rest run <code>pawl stop</code> and <code>pawl serve</code>.
          </p>
          <button type="button" disabled={take.isPending} onClick={() => take.mutate()}>
            Take up what can be
          </button>
        </div>
      )}
      <div className="row">
        <label className="grow">
          <span>Find a setting</span>
          <input type="search" value={text} onChange={(event) => setText(event.target.value)} />
        </label>
        <button type="button" aria-pressed={isAll} onClick={() => setAll(!isAll)}>
          {isAll ? 'Show limits only' : `Show all ${found.settings.length}`}
        </button>
        <button type="button" disabled={!found.canUndo || undo.isPending} onClick={() => undo.mutate()}>
          Undo the last change
        </button>
      </div>
      {failed && <p role="alert">{messageOf(failed.error)}</p>}
      {changed && <Said changed={changed} />}
      <Wide label="Table of settings">
        <table className={`folds ${styles.table}`}>
          <thead>
            <tr>
              <th scope="col">Setting</th>
              <th scope="col">Value</th>
              <th scope="col">From</th>
              <th scope="col">
                <span className="hidden-but-read">Change</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {fitting.map((row) => (
              <Row
                key={row.path}
                row={row}
                isEdited={edited === row.path}
                onEdit={(path) => {
                  undo.reset()
                  take.reset()
                  setChanged(undefined)
                  setEdited(path)
                }}
                onChanged={(done) => {
                  setEdited(undefined)
                  tell(done)
                }}
                hash={found.hash}
              />
            ))}
          </tbody>
        </table>
      </Wide>
      {fitting.length === 0 && <p className="faint">No setting is like that.</p>}
      <Add hash={found.hash} onChanged={tell} />
    </>
  )
}

const isFirst = (path: string) => blocks.slice(0, -1).some(([block]) => path.startsWith(`${block}.`))

function Row({
  row,
  isEdited,
  onEdit,
  onChanged,
  hash,
}: {
  row: SettingRow
  isEdited: boolean
  onEdit: (path: string | undefined) => void
  onChanged: (changed: SettingsChanged) => void
  hash: string | null
}) {
  const { path, value, source, about, effect, isWritten } = row
  const isOfHome = /config\.yaml:\d+$/.test(source)
  const unset = useMutation({ mutationFn: () => pawl.changeSettings({ unset: [path], hash }), onSuccess: onChanged })
  return (
    <tr>
      <td>
        <code>{path}</code>
        {about && <div className="small faint">{about}</div>}
      </td>
      <td>
        {isEdited ? (
          <Edit path={path} before={writtenValue(value)} hash={hash} onChanged={onChanged} onKeep={() => onEdit(undefined)} />
        ) : (
          <code className={styles.value}>{writtenValue(value)}</code>
        )}
        {unset.isError && (
          <div role="alert" className={styles.bad}>
            {messageOf(unset.error)}
          </div>
        )}
      </td>
      <td className="small faint" data-head="From">
        {source}
      </td>
      <td className={styles.acts}>
        {isWritten && !isEdited && (
          <>
            <button type="button" className="quiet small" aria-label={`Change ${path}`} onClick={() => onEdit(path)}>
              Change
            </button>
            {isOfHome && (
              <button
                type="button"
                className="quiet small"
                aria-label={`Default for ${path}`}
                disabled={unset.isPending}
                onClick={() => unset.mutate()}
              >
                Default
              </button>
            )}
          </>
        )}
        {isEdited && <span className="small faint">{effects[effect]}</span>}
      </td>
    </tr>
  )
}

const effects: Record<SettingRow['effect'], string> = {
  now: 'counts at once',
  'new tasks': 'counts for new tasks',
  restart: 'counts after a restart',
}

function Edit({
  path,
  before,
  hash,
  onChanged,
  onKeep,
}: {
  path: string
  before: string
  hash: string | null
  onChanged: (changed: SettingsChanged) => void
  onKeep: () => void
}) {
  const [text, setText] = useState(before === '***' ? '' : before)
  const change = useMutation({
    mutationFn: () => pawl.changeSettings({ set: { [path]: readValue(text) }, hash }),
    onSuccess: onChanged,
  })
  return (
    <form
      className={styles.edit}
      onSubmit={(event) => {
        event.preventDefault()
        change.mutate()
      }}
    >
      <input
        // biome-ignore lint/a11y/noAutofocus: it was asked for by the button that it takes the place of
        autoFocus
        required
        aria-label={`New value of ${path}`}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && onKeep()}
      />
      <button type="submit" className="primary" disabled={change.isPending}>
        Set
      </button>
      <button type="button" onClick={onKeep}>
        Keep
      </button>
      {change.isError && (
        <p role="alert" className={styles.bad}>
          {messageOf(change.error)}
        </p>
      )}
    </form>
  )
}

/** What is in no row yet: another agent, a cap that there was not. */
function Add({ hash, onChanged }: { hash: string | null; onChanged: (changed: SettingsChanged) => void }) {
  const [path, setPath] = useState('')
  const [text, setText] = useState('')
  const change = useMutation({
    mutationFn: () => pawl.changeSettings({ set: { [path.trim()]: readValue(text) }, hash }),
    onSuccess(done) {
      setPath('')
      setText('')
      onChanged(done)
    },
  })
  return (
    <form
      className={`row ${styles.find}`}
      onSubmit={(event) => {
        event.preventDefault()
        change.mutate()
      }}
    >
      <label className="grow">
        <span>Another setting</span>
        <input required placeholder="budget.day" value={path} onChange={(event) => setPath(event.target.value)} />
      </label>
      <label className="grow">
        <span>Set to text, a number, or JSON</span>
        <input required placeholder="20" value={text} onChange={(event) => setText(event.target.value)} />
      </label>
      <button type="submit" disabled={change.isPending}>
        Add
      </button>
      {change.isError && (
        <p role="alert" className={styles.bad}>
          {messageOf(change.error)}
        </p>
      )}
    </form>
  )
}

function Said({ changed: { changed, overruled, restart } }: { changed: SettingsChanged }) {
  return (
    <div role="status" className="stack">
      {changed.length === 0 && <p>Nothing is otherwise than before.</p>}
      {changed.slice(0, 20).map(({ path, before, after, effect }) => (
        <p key={path} className="row">
          <Badge tone={effect === 'restart' ? 'ask' : 'good'}>{effects[effect]}</Badge>
          <span>
            <code>{path}</code>: {writtenValue(before)} → {writtenValue(after)}
          </span>
        </p>
      ))}
      {overruled.map(({ path, by }) => (
        <p key={path}>
          <code>{path}</code> stands in the file now, but {by} wins over it.
        </p>
      ))}
      {restart && (
        <p>
          For what counts after a restart: <code>pawl stop</code>, then <code>pawl serve</code>. Running tasks go back to the
          queue and lose nothing.
        </p>
      )}
    </div>
  )
}
