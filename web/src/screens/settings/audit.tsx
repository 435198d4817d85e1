import { useMutation, useQuery } from '@tanstack/react-query'
import { messageOf } from '../../../../src/domain/error.ts'
import { asked } from '../../data/asked.ts'
import { pawl } from '../../data/pawl.ts'
import { Shown } from '../../parts/states.tsx'
import { Wide } from '../../parts/wide.tsx'

/** Who did what, in a chain that shows if somebody changed it. */
export function Audit() {
  const audit = useQuery(asked.audit)
  const verify = useMutation({ mutationFn: () => pawl.verifyAudit() })
  return (
    <section className="card stack" aria-labelledby="audit">
      <div className="row">
        <h2 id="audit">Audit</h2>
        <button type="button" disabled={verify.isPending} onClick={() => verify.mutate()}>
          {verify.isPending ? 'Checking…' : 'Check that it is whole'}
        </button>
        {verify.data && (
          <span role="status">
            {verify.data.isWhole
              ? `All ${verify.data.entries} entries are as they were written.`
              : `Entry ${verify.data.firstBad?.seq} is not as it was written: ${verify.data.firstBad?.why}`}
          </span>
        )}
        {verify.isError && <span role="alert">{messageOf(verify.error)}</span>}
      </div>
      <Shown asked={audit}>
        {({ items }) => (
          <Wide label="Table of entries">
            <table className="folds">
              <thead>
                <tr>
                  <th scope="col">When</th>
                  <th scope="col">Who</th>
                  <th scope="col">What</th>
                  <th scope="col">To what</th>
                </tr>
              </thead>
              <tbody>
                {items.map(({ seq, at, actor, via, action, subject }) => (
                  <tr key={seq}>
                    <td className="faint">{new Date(at).toLocaleString()}</td>
                    <td>
                      {actor} <span className="faint">{via}</span>
                    </td>
                    <td>{action}</td>
                    <td>
                      <code>{subject}</code>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Wide>
        )}
      </Shown>
    </section>
  )
}
