import { useMutation, useQuery } from '@tanstack/react-query'
import { messageOf } from '../../../../src/domain/error.ts'
import type { PushEvent, PushState, PushView } from '../../../../src/domain/notification/push.ts'
import { asked } from '../../data/asked.ts'
import { pawl } from '../../data/pawl.ts'
import { ownPushId, type PushSupport, pushSupport, subscribe, unsubscribe } from '../../data/push.ts'
import styles from './inbox.module.css'

const why: Record<Exclude<PushSupport, 'able'>, string> = {
  insecure: 'A browser is told only over https, or on the machine of the daemon itself.',
  unable: 'This browser cannot be told anything while the page is closed. On an iPhone, put the page on the home screen first.',
  forbidden: 'This browser may not show notifications of this page; allow it in the settings of the browser.',
}

const eventWords: Record<PushEvent, string> = {
  'question.asked': 'a question',
  'question.escalated': 'a question nobody answered',
  'task.review': 'work to accept',
  'task.failed': 'a failure',
  'task.timed_out': 'time is up',
  'task.over_budget': 'the budget is used up',
  'task.requeued': 'a usage limit is over',
  'task.completed': 'work is completed',
}

/** Has this browser told of what happens while the page is closed. */
export function TellThisBrowser() {
  const { data } = useQuery(asked.push)
  const support = pushSupport()
  return (
    <section className="card stack" aria-labelledby="tell">
      <h2 id="tell">While this page is closed</h2>
      {support !== 'able' ? <p className="faint">{why[support]}</p> : data && <Switch state={data} />}
    </section>
  )
}

function Switch({ state }: { state: PushState }) {
  const own = state.items.find(({ id }) => id === ownPushId())
  const change = useMutation({ mutationFn: (events?: PushEvent[]) => subscribe(state.publicKey, events) })
  const off = useMutation({ mutationFn: unsubscribe })
  const test = useMutation({ mutationFn: (id: string) => pawl.testPush(id) })
  const failed = [change, off, test].find(({ isError }) => isError)
  return (
    <>
      {own ? (
        <>
          <Events own={own} all={state.events} isBusy={change.isPending} onChange={(events) => change.mutate(events)} />
          <div className="row">
            <button type="button" disabled={test.isPending} onClick={() => test.mutate(own.id)}>
              {test.isPending ? 'Sending…' : 'Send a test'}
            </button>
            <button type="button" disabled={off.isPending} onClick={() => off.mutate(own.id)}>
              Tell this browser nothing more
            </button>
            {test.data && (
              <span role="status" className="faint small">
                {test.data.detail}
              </span>
            )}
          </div>
        </>
      ) : (
        <div className="row">
          <button type="button" disabled={change.isPending} onClick={() => change.mutate(undefined)}>
            {change.isPending ? 'Asking the browser…' : 'Tell this browser'}
          </button>
          <span className="faint small">of questions, work to accept, failures, used-up budgets and limits that are over</span>
        </div>
      )}
      {failed && (
        <p role="alert" className={styles.refused}>
          {messageOf(failed.error)}
        </p>
      )}
    </>
  )
}

function Events({
  own,
  all,
  isBusy,
  onChange,
}: {
  own: PushView
  all: readonly PushEvent[]
  isBusy: boolean
  onChange: (events: PushEvent[]) => void
}) {
  const chosen = all.filter((type) => own.events.includes(type))
  return (
    <fieldset className={styles.events} disabled={isBusy}>
      <legend className="faint small">This browser is told of</legend>
      {all.map((type) => {
        const isOn = chosen.includes(type)
        return (
          <label key={type}>
            <input
              type="checkbox"
              checked={isOn}
              disabled={isOn && chosen.length === 1}
              onChange={() => onChange(isOn ? chosen.filter((one) => one !== type) : [...chosen, type])}
            />
            <span>{eventWords[type]}</span>
          </label>
        )
      })}
    </fieldset>
  )
}
