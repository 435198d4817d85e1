import { Audit } from './settings/audit.tsx'
import { Daemon } from './settings/daemon.tsx'
import { Profiles } from './settings/profiles.tsx'
import { Secrets } from './settings/secrets.tsx'
import { Security } from './settings/security.tsx'
import { Tokens } from './settings/tokens.tsx'

/** What agents may do, who may come in, and what was done. */
export default function Settings() {
  return (
    <div className="stack">
      <h1>Settings</h1>
      <Security />
      <Profiles />
      <Secrets />
      <Tokens />
      <Audit />
      <Daemon />
    </div>
  )
}
