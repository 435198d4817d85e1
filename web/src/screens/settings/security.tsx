import { useQuery } from '@tanstack/react-query'
import { asked } from '../../data/asked.ts'
import { Badge } from '../../parts/badge.tsx'
import { Shown } from '../../parts/states.tsx'
import { Since } from '../../parts/time.tsx'

/** Whether the walls hold, and what trying to get out of them has shown. */
export function Security() {
  const health = useQuery(asked.health)
  return (
    <section className="card stack" aria-labelledby="security">
      <h2 id="security">Walls</h2>
      <Shown asked={health}>
        {({ walls }) => (
          <>
            <div className="row">
              <Badge tone={walls.enforced ? 'good' : 'bad'}>{walls.enforced ? 'enforced' : 'not enforced'}</Badge>
              <span>{walls.name}</span>
              <span className="faint">{walls.detail}</span>
            </div>
            {walls.fix && <code>{walls.fix}</code>}
            <ul>
              {walls.selfTests.map(({ profile, passed, at, canaries, failure }) => (
                <li key={profile}>
                  <strong>{profile}</strong>: {passed ? 'nothing got out' : (failure ?? 'something got out')} of {canaries.length}{' '}
                  ways tried, <Since at={at} />
                  {canaries
                    .filter(({ verdict }) => verdict !== 'held')
                    .map(({ name, verdict, detail }) => (
                      <div key={name} className={verdict === 'escaped' ? '' : 'faint'}>
                        {name}: {verdict}. {detail}
                      </div>
                    ))}
                </li>
              ))}
            </ul>
            {walls.selfTests.length === 0 && <p className="faint">Nobody has tried yet to get out of them.</p>}
          </>
        )}
      </Shown>
    </section>
  )
}
