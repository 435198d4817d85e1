import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../../../../src/domain/error.ts'
import { asked } from '../../data/asked.ts'
import { pawl } from '../../data/pawl.ts'
import { Badge } from '../../parts/badge.tsx'
import { Shown } from '../../parts/states.tsx'
import { Wide } from '../../parts/wide.tsx'

/** What each profile lets an agent do, and what would become of one call. */
export function Profiles() {
  const profiles = useQuery(asked.profiles)
  const [shown, setShown] = useState<string>()
  return (
    <section className="card stack" aria-labelledby="profiles">
      <h2 id="profiles">Profiles</h2>
      <Shown asked={profiles}>
        {(found) => (
          <>
            <Wide label="Table of profiles">
              <table className="folds">
                <thead>
                  <tr>
                    <th scope="col">Profile</th>
                    <th scope="col">Stands on</th>
                    <th scope="col">Walls</th>
                    <th scope="col">
                      <span className="hidden-but-read">What it says</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {found.map(({ name, base, walls }) => (
                    <tr key={name}>
                      <td>{name}</td>
                      <td className="faint" data-head="Stands on">
                        {base}
                      </td>
                      <td data-head="Walls">{walls ? 'yes' : 'none'}</td>
                      <td>
                        <button
                          type="button"
                          className="quiet small"
                          aria-expanded={shown === name}
                          onClick={() => setShown(shown === name ? undefined : name)}
                        >
                          {shown === name ? 'Hide' : `Show ${name}`}
                        </button>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Wide>
            {shown !== undefined && <Whole name={shown} />}
            <Explain names={found.map(({ name }) => name)} />
          </>
        )}
      </Shown>
    </section>
  )
}

function Whole({ name }: { name: string }) {
  const profile = useQuery(asked.profile(name))
  return (
    <Shown asked={profile}>
      {(found) => (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        <pre className="scroll-x" tabIndex={0}>
          {JSON.stringify(found.profile, null, 2)}
        </pre>
      )}
    </Shown>
  )
}

/** Would this be allowed? Nothing is run. */
function Explain({ names }: { names: readonly string[] }) {
  const [profile, setProfile] = useState(names[0] ?? '')
  const [tool, setTool] = useState('Bash')
  const [text, setText] = useState('')
  const explain = useMutation({
    mutationFn: () => {
      const key = tool === 'Bash' ? 'command' : tool === 'WebFetch' ? 'url' : 'file_path'
      return pawl.explainCall(profile, { tool, input: { [key]: text } })
    },
  })
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        explain.mutate()
      }}
    >
      <h3>What would become of a call</h3>
      <div className="row">
        <label>
          <span>Profile</span>
          <select value={profile} onChange={(event) => setProfile(event.target.value)}>
            {names.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          <span>Tool</span>
          <select value={tool} onChange={(event) => setTool(event.target.value)}>
            {['Bash', 'Read', 'Write', 'Edit', 'WebFetch'].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label className="grow">
          <span>Command, path or address</span>
          <input required value={text} onChange={(event) => setText(event.target.value)} />
        </label>
        <button type="submit" disabled={explain.isPending}>
          Explain
        </button>
      </div>
      {explain.data && (
        <p role="status" className="row">
          <Badge tone={explain.data.verdict === 'allow' ? 'good' : explain.data.verdict === 'ask' ? 'ask' : 'bad'}>
            {explain.data.verdict}
          </Badge>
          <span>{explain.data.why}</span>
        </p>
      )}
      {explain.isError && <p role="alert">{messageOf(explain.error)}</p>}
    </form>
  )
}
