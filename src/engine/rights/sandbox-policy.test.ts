import { expect, test } from 'vitest'
import { resolveProfile } from '../../domain/profile/resolve.ts'
import { policySentence } from './sandbox-policy.ts'

test('what is not enforced is not claimed to an agent that was refused something', () => {
  const parts = { profile: resolveProfile('guarded'), workspace: '/w' }
  expect(policySentence('Bash', { ...parts, walls: { enforced: true } })).toContain('file sandboxing is on')
  const off = policySentence('Bash', { ...parts, walls: { enforced: false } })
  expect(off).toContain('file sandboxing is off, network sandboxing is off')
  expect(off).not.toContain('Writable')
  const open = { ...parts, profile: resolveProfile('unattended-open') }
  expect(policySentence('Read', { ...open, walls: { enforced: true } })).toBe(off)
})
