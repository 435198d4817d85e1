import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../../../../src/domain/error.ts'
import { asked } from '../../data/asked.ts'
import { pawl } from '../../data/pawl.ts'
import { Shown } from '../../parts/states.tsx'
import { Since } from '../../parts/time.tsx'
import { Wide } from '../../parts/wide.tsx'

/** Who may come in: tokens of programs and people, and browsers that are signed in. */
export function Tokens() {
  const tokens = useQuery(asked.tokens)
  return (
    <section className="card stack" aria-labelledby="tokens">
      <h2 id="tokens">Tokens and browsers</h2>
      <Shown asked={tokens}>
        {(found) => (
          <Wide label="Table of tokens and browsers">
            <table className="folds">
              <thead>
                <tr>
                  <th scope="col">What it is</th>
                  <th scope="col">Whose</th>
                  <th scope="col">Used</th>
                  <th scope="col">Ends</th>
                  <th scope="col">
                    <span className="hidden-but-read">Revoke</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {found.map((token) => (
                  <tr key={token.id}>
                    <td>
                      {token.kind === 'session'
                        ? 'a browser'
                        : token.kind === 'code'
                          ? 'a code to sign in with'
                          : `a token (${token.kind})`}{' '}
                      {token.name && <span className="faint">{token.name}</span>}
                    </td>
                    <td data-head="Whose">
                      {token.user}
                      {token.role && <span className="faint"> as {token.role}</span>}
                    </td>
                    <td className="faint" data-head="Used">
                      {token.lastUsedAt ? <Since at={token.lastUsedAt} /> : 'never'}
                    </td>
                    <td className="faint" data-head="Ends">
                      {token.expiresAt ? new Date(token.expiresAt).toLocaleString() : 'never'}
                    </td>
                    <td>
                      <Revoke id={token.id} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Wide>
        )}
      </Shown>
      <Make />
    </section>
  )
}

function Revoke({ id }: { id: string }) {
  const [isSure, setSure] = useState(false)
  const revoke = useMutation({ mutationFn: () => pawl.revokeToken(id) })
  return (
    <>
      <button
        type="button"
        className={isSure ? 'danger' : 'quiet small'}
        disabled={revoke.isPending}
        aria-label={`${isSure ? 'Revoke for good' : 'Revoke'} ${id}`}
        onClick={() => (isSure ? revoke.mutate() : setSure(true))}
      >
        {isSure ? 'Revoke for good' : 'Revoke'}
      </button>
      {revoke.isError && <span role="alert">{messageOf(revoke.error)}</span>}
    </>
  )
}

function Make() {
  const [name, setName] = useState('')
  const [user, setUser] = useState('')
  const [kind, setKind] = useState<'user' | 'hook'>('user')
  const users = useQuery(asked.users)
  const make = useMutation({
    mutationFn: () => pawl.createToken({ name, kind, ...(user === '' ? {} : { user }) }),
    onSuccess: () => setName(''),
  })
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        make.mutate()
      }}
    >
      <div className="row">
        <label>
          <span>A new token for</span>
          <input required value={name} placeholder="what it is for" onChange={(event) => setName(event.target.value)} />
        </label>
        <label>
          <span>Whose</span>
          <select value={user} onChange={(event) => setUser(event.target.value)}>
            <option value="">mine</option>
            {users.data?.map(({ name: one }) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <label>
          <span>It may</span>
          <select value={kind} onChange={(event) => setKind(event.target.value as 'user' | 'hook')}>
            <option value="user">all that they may</option>
            <option value="hook">only hand in tasks</option>
          </select>
        </label>
        <button type="submit" disabled={make.isPending}>
          Make
        </button>
      </div>
      {make.data && (
        <p role="status">
          Copy it now, it is not shown again: <code>{make.data.token}</code>
        </p>
      )}
      {make.isError && <p role="alert">{messageOf(make.error)}</p>}
    </form>
  )
}
