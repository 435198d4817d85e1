import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventsPage, statesPage } from '../scripts/pages.ts'
import { abilities } from '../src/agent.ts'
import { adapters } from '../src/agents/index.ts'

const page = (name: string) => readFileSync(resolve(import.meta.dirname, '../docs', name), 'utf8')

describe('the documentation', () => {
  it('describes the events as the code defines them', () => {
    expect(page('events.md')).toBe(eventsPage())
  })
  it('lists every adapter with what it can do in the README', () => {
    const readme = page('../README.md')
    for (const adapter of adapters) {
      const row = readme.split('\n').find((line) => line.startsWith(`| \`${adapter.name}\` |`))
      expect([adapter.name, row?.split('|')[3]?.trim()]).toEqual([
        adapter.name,
        abilities.filter((ability) => adapter.can[ability]).join(', '),
      ])
    }
  })
  it('lists the moves as the code allows them', () => {
    expect(page('states.md')).toBe(statesPage(page('states.md')))
  })
})
