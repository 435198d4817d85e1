import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../../../../src/domain/error.ts'
import { asked } from '../../data/asked.ts'
import { pawl } from '../../data/pawl.ts'
import { Shown } from '../../parts/states.tsx'
import { Since } from '../../parts/time.tsx'
import { Wide } from '../../parts/wide.tsx'

/** Names of secrets; a value goes in and never comes out. */
export function Secrets() {
  const secrets = useQuery(asked.secrets)
  return (
    <section className="card stack" aria-labelledby="secrets">
      <h2 id="secrets">Secrets</h2>
      <Shown asked={secrets}>
        {(found) => (
          <>
            {found.length === 0 ? (
              <p className="faint">None is kept.</p>
            ) : (
              <Wide label="Table of secrets">
                <table className="folds">
                  <thead>
                    <tr>
                      <th scope="col">Name</th>
                      <th scope="col">For</th>
                      <th scope="col">Changed</th>
                      <th scope="col">
                        <span className="hidden-but-read">Remove</span>
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {found.map(({ scope, name, updatedAt, updatedBy }) => (
                      <tr key={`${scope} ${name}`}>
                        <td>
                          <code>{name}</code>
                        </td>
                        <td data-head="For">{scope === 'global' ? 'everybody' : scope}</td>
                        <td className="faint" data-head="Changed">
                          <Since at={updatedAt} /> by {updatedBy}
                        </td>
                        <td>
                          <Remove scope={scope} name={name} />
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </Wide>
            )}
            <Keep />
          </>
        )}
      </Shown>
    </section>
  )
}

function Remove({ scope, name }: { scope: string; name: string }) {
  const [isSure, setSure] = useState(false)
  const remove = useMutation({ mutationFn: () => pawl.removeSecret(scope, name) })
  if (!isSure)
    return (
      <button type="button" className="quiet small" onClick={() => setSure(true)}>
        Remove {name}
      </button>
    )
  return (
    <>
      <button type="button" className="danger" disabled={remove.isPending} onClick={() => remove.mutate()}>
        Remove for good
      </button>
      {remove.isError && <span role="alert">{messageOf(remove.error)}</span>}
    </>
  )
}

function Keep() {
  const [name, setName] = useState('')
  const [scope, setScope] = useState('global')
  const [value, setValue] = useState('')
  const keep = useMutation({
    mutationFn: () => pawl.setSecret(scope, name, value),
    onSuccess() {
      setName('')
      setValue('')
    },
  })
  return (
    <form
      className="row"
      onSubmit={(event) => {
        event.preventDefault()
        keep.mutate()
      }}
    >
      <label>
        <span>Name of a secret</span>
        <input required autoComplete="off" value={name} onChange={(event) => setName(event.target.value)} />
      </label>
      <label>
        <span>For: global, agent:NAME or user:NAME</span>
        <input required value={scope} onChange={(event) => setScope(event.target.value)} />
      </label>
      <label>
        <span>Value</span>
        <input
          required
          type="password"
          autoComplete="new-password"
          value={value}
          onChange={(event) => setValue(event.target.value)}
        />
      </label>
      <button type="submit" disabled={keep.isPending}>
        Keep
      </button>
      {keep.isError && <span role="alert">{messageOf(keep.error)}</span>}
    </form>
  )
}
