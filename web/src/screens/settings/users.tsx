import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { localUser, type Role, roles } from '../../../../src/domain/auth/role.ts'
import type { UserView } from '../../../../src/domain/auth/token.ts'
import { messageOf } from '../../../../src/domain/error.ts'
import { asked } from '../../data/asked.ts'
import { pawl } from '../../data/pawl.ts'
import { Badge } from '../../parts/badge.tsx'
import { Shown } from '../../parts/states.tsx'
import { Wide } from '../../parts/wide.tsx'

const says: Record<Role, string> = {
  viewer: 'viewer: looks',
  operator: 'operator: hands in tasks and answers',
  admin: 'admin: everything, also these settings',
}

/** Who may come in and what they may do. */
export function Users() {
  const users = useQuery(asked.users)
  return (
    <section className="card stack" aria-labelledby="users">
      <h2 id="users">Users</h2>
      <Shown asked={users}>
        {(found) => (
          <Wide label="Table of users">
            <table className="folds">
              <thead>
                <tr>
                  <th scope="col">Name</th>
                  <th scope="col">Role</th>
                  <th scope="col">At once</th>
                  <th scope="col">A day</th>
                  <th scope="col">
                    <span className="hidden-but-read">Change</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {found.map((user) => (
                  <User key={user.name} user={user} />
                ))}
              </tbody>
            </table>
          </Wide>
        )}
      </Shown>
      <Add />
    </section>
  )
}

function User({ user: { name, role, isDisabled, slots, dailyTasks, tasksToday } }: { user: UserView }) {
  const [isSure, setSure] = useState(false)
  const set = useMutation({ mutationFn: (changes: { role?: Role; isDisabled?: boolean }) => pawl.setUser(name, changes) })
  const remove = useMutation({ mutationFn: () => pawl.removeUser(name) })
  const failed = [set, remove].find(({ isError }) => isError)
  return (
    <tr>
      <td>
        {name} {isDisabled && <Badge tone="faint">disabled</Badge>}
        {failed && <div role="alert">{messageOf(failed.error)}</div>}
      </td>
      <td>
        {name === localUser ? (
          role
        ) : (
          <select
            aria-label={`Role of ${name}`}
            value={role}
            disabled={set.isPending}
            onChange={(event) => set.mutate({ role: event.target.value as Role })}
          >
            {roles.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        )}
      </td>
      <td className="faint" data-head="At once">
        {slots ?? 'no limit'}
      </td>
      <td className="faint" data-head="A day">
        {dailyTasks === null ? 'no limit' : `${tasksToday ?? 0} of ${dailyTasks}`}
      </td>
      <td>
        {name !== localUser && (
          <span className="row">
            <button
              type="button"
              className="quiet small"
              disabled={set.isPending}
              onClick={() => set.mutate({ isDisabled: !isDisabled })}
            >
              {isDisabled ? `Let ${name} in` : `Shut ${name} out`}
            </button>
            <button
              type="button"
              className={isSure ? 'danger' : 'quiet small'}
              disabled={remove.isPending}
              onClick={() => (isSure ? remove.mutate() : setSure(true))}
            >
              {isSure ? `Remove ${name} and end their tokens` : `Remove ${name}`}
            </button>
          </span>
        )}
      </td>
    </tr>
  )
}

function Add() {
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('operator')
  const add = useMutation({ mutationFn: () => pawl.createUser({ name, role }), onSuccess: () => setName('') })
  return (
    <form
      className="row"
      onSubmit={(event) => {
        event.preventDefault()
        add.mutate()
      }}
    >
      <label>
        <span>Let somebody in</span>
        <input required autoComplete="off" value={name} placeholder="name" onChange={(event) => setName(event.target.value)} />
      </label>
      <label>
        <span>As</span>
        <select value={role} onChange={(event) => setRole(event.target.value as Role)}>
          {roles.map((one) => (
            <option key={one} value={one}>
              {says[one]}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" disabled={add.isPending}>
        Add
      </button>
      {add.isError && <span role="alert">{messageOf(add.error)}</span>}
    </form>
  )
}
