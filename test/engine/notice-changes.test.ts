import { expect, it } from 'vitest'
import { systemClock as clock } from '../../src/base/clock.ts'
import { createAudit } from '../../src/engine/auth/audit.ts'
import { createNotices, type SettingsInForce } from '../../src/engine/auth/notice-changes.ts'
import { makeParts } from './store.ts'

it('the audit tells of rights that were given by editing a file, once each, whoever sees it', async () => {
  const { db, log } = await makeParts()
  const audit = createAudit({ db, log, clock })
  let files: SettingsInForce = { trusted: new Map([['/srv/project/pawl.yaml', 'sha256:1']]), profiles: new Map() }
  const look = async () => files
  const [one, other] = [createNotices({ db, audit, clock, log, look }), createNotices({ db, audit, clock, log, look })]
  const told = async () => {
    const { items } = await audit.list({ limit: 100 })
    return items.map(({ action, subject, detail }) => [action, subject, detail.how])
  }

  expect(await Promise.all([one.check(), other.check()]).then((counts) => counts.toSorted())).toEqual([0, 1])
  expect(await one.check()).toBe(0)
  files = { trusted: new Map([['/srv/project/pawl.yaml', 'sha256:2']]), profiles: new Map([['mine', 'sha256:a']]) }
  expect(await other.check()).toBe(2)
  files = { trusted: new Map(), profiles: new Map([['mine', 'sha256:a']]) }
  expect(await one.check()).toBe(1)

  expect((await told()).toSorted()).toEqual(
    [
      ['trust.add', '/srv/project/pawl.yaml', 'added'],
      ['trust.add', '/srv/project/pawl.yaml', 'changed'],
      ['profile.change', 'mine', 'added'],
      ['trust.remove', '/srv/project/pawl.yaml', 'removed'],
    ].toSorted(),
  )
  expect(await audit.verify()).toMatchObject({ isWhole: true })
})
