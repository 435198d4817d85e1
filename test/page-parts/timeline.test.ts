import { describe, expect, it } from 'vitest'
import type { Event } from '../../src/domain/event/event.ts'
import { Timeline } from '../../web/src/data/timeline.ts'

const at = '2026-01-01T00:00:00.000Z'
const event = (seq: number, type: Event['type'], data: object, run = 'r_1') =>
  ({ seq, at, task: 't_1', run, type, data }) as unknown as Event
const said = (seq: number, text: string) => event(seq, 'agent.message', { text })
const called = (seq: number, callId: string, run?: string) =>
  event(seq, 'agent.tool_called', { callId, tool: 'Bash', input: {} }, run)
const returned = (seq: number, callId: string, output: string, run?: string) =>
  event(seq, 'agent.tool_returned', { callId, output, isError: false }, run)
const outputs = ({ items }: Timeline) => items.map((item) => (item.kind === 'tool' ? item.returned?.data.output : item.event.seq))

describe('the timeline of a task', () => {
  it('shows a call of a tool once, with what came back at any later time', () => {
    const timeline = new Timeline()
    timeline.add([said(1, 'a'), called(2, 'x'), called(3, 'y')])
    timeline.add([said(4, 'b'), returned(5, 'y', 'of y'), returned(6, 'x', 'of x')])
    expect(outputs(timeline)).toEqual([1, 'of x', 'of y', 4])
  })

  it('keeps calls of different runs apart though they have the same id', () => {
    const timeline = new Timeline()
    timeline.add([called(1, 'x', 'r_1'), called(2, 'x', 'r_2'), returned(3, 'x', 'of the second', 'r_2')])
    expect(outputs(timeline)).toEqual([undefined, 'of the second'])
  })

  it('passes over what it has, as after a cut of the connection', () => {
    const timeline = new Timeline()
    timeline.add([said(1, 'a'), said(2, 'b')])
    timeline.add([said(2, 'b'), said(3, 'c')])
    expect(outputs(timeline)).toEqual([1, 2, 3])
    expect(timeline.lastSeq).toBe(3)
  })

  it('counts what it does not show, so that nothing is asked for twice', () => {
    const timeline = new Timeline()
    timeline.add([said(1, 'a'), event(2, 'agent.usage', {}), returned(3, 'unknown', 'x')])
    expect(outputs(timeline)).toEqual([1])
    expect(timeline.lastSeq).toBe(3)
  })

  it('gives a new list and a new item for what changed, and the same item for what did not', () => {
    const timeline = new Timeline()
    timeline.add([said(1, 'a'), called(2, 'x')])
    const before = timeline.items
    timeline.add([returned(3, 'x', 'y')])
    expect(timeline.items).not.toBe(before)
    expect(timeline.items[0]).toBe(before[0])
    expect(timeline.items[1]).not.toBe(before[1])
  })
})
