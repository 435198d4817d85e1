import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checks } from './requirements/checks.ts'
import { allBindings, type Requirement, type RequirementName, requirements } from './requirements/list.ts'
import { type Ground, startWorld } from './requirements/world.ts'

let ground: Ground
beforeAll(async () => {
  ground = await startWorld()
}, 90_000)
afterAll(() => ground.stop())

test('every rule has a check, and there is no check without a rule', () => {
  expect(Object.keys(checks).sort()).toEqual(Object.keys(requirements).sort())
})

describe.each(allBindings)('over %s', (binding) => {
  for (const [name, requirement] of Object.entries(requirements) as [RequirementName, Requirement][]) {
    if (requirement.on && !requirement.on.includes(binding)) continue
    const reason = requirement.except?.[binding]
    if (reason === undefined)
      test.concurrent(`${requirement.section} ${requirement.says}`, async () => checks[name](ground.world(binding)), 60_000)
    else
      test.concurrent(`${requirement.section} is a known exception: ${requirement.says}`, async () => {
        const outcome = await checks[name](ground.world(binding)).then(
          () => 'it holds: take it from the list of exceptions',
          () => 'not kept',
        )
        expect(outcome).toBe('not kept')
      }, 60_000)
  }
})
