import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { agentsPage, eventsPage, statesPage } from '../scripts/pages.ts'
import { adapters } from '../src/agents/index.ts'

const page = (name: string) => readFileSync(resolve(import.meta.dirname, '../docs', name), 'utf8')

describe('the documentation', () => {
  it('describes the events as the code defines them', () => {
    expect(page('events.md')).toBe(eventsPage())
  })
  it('lists every adapter and preset with what it can do, which versions were tried, and how it is installed', () => {
    expect(page('agents.md')).toBe(agentsPage(page('agents.md')))
    for (const { name } of adapters) expect(page('agents.md')).toMatch(new RegExp(`^\\| .*\`${name}\``, 'm'))
  })
  it('lists the moves as the code allows them', () => {
    expect(page('states.md')).toBe(statesPage(page('states.md')))
  })
})
