import { expect, test } from 'vitest'
import { withSkills } from './skills.ts'

test('an agent is told of its skills after its own instructions, and of nothing where there are none', () => {
  const items = [{ name: 'review', description: 'Reviews.', path: '/run/pawl/skills/review' }]
  const told = withSkills('Be brief.', { own: false, folder: '/run/pawl', items })
  expect(told).toMatch(/^Be brief\.\n\nYou have skills: /)
  expect(told).toMatch(/\n- review: Reviews\. \(\/run\/pawl\/skills\/review\/SKILL\.md\)$/)
  expect(withSkills('Be brief.', { own: true, items: [] })).toBe('Be brief.')
  expect(withSkills(undefined, undefined)).toBeUndefined()
})
