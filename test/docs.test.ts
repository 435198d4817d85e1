import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventsPage, statesPage } from '../scripts/pages.ts'

const page = (name: string) => readFileSync(resolve(import.meta.dirname, '../docs', name), 'utf8')

describe('the documentation', () => {
  it('describes the events as the code defines them', () => {
    expect(page('events.md')).toBe(eventsPage())
  })
  it('lists the moves as the code allows them', () => {
    expect(page('states.md')).toBe(statesPage(page('states.md')))
  })
})
