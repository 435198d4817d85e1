import { Link } from '@tanstack/react-router'
import { Audit } from './settings/audit.tsx'
import { Backups } from './settings/backups.tsx'
import { Config } from './settings/config.tsx'
import { Daemon } from './settings/daemon.tsx'
import { Profiles } from './settings/profiles.tsx'
import { Secrets } from './settings/secrets.tsx'
import { Security } from './settings/security.tsx'
import { Tokens } from './settings/tokens.tsx'
import { Users } from './settings/users.tsx'

/** What agents may do, who may come in, and what was done. */
export default function Settings() {
  return (
    <div className="stack">
      <div className="row">
        <h1>Settings</h1>
        <Link to="/doctor">Doctor: is everything well?</Link>
      </div>
      <Config />
      <Security />
      <Profiles />
      <Secrets />
      <Users />
      <Tokens />
      <Backups />
      <Audit />
      <Daemon />
    </div>
  )
}
