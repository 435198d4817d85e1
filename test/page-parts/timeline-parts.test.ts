import { describe, expect, it } from 'vitest'
import type { Event } from '../../src/domain/event/event.ts'
import { Timeline } from '../../web/src/data/timeline.ts'
import { rowsOf } from '../../web/src/data/timeline-rows.ts'
import { diffOf, editsOf } from '../../web/src/parts/timeline-edits.ts'
import { Heights } from '../../web/src/parts/timeline-heights.ts'

let seq = 0
const event = (type: Event['type'], data: object) =>
  ({ seq: ++seq, at: '2026-01-01T00:00:00.000Z', task: 't_1', run: 'r_1', type, data }) as unknown as Event
const called = (callId: string, tool: string, input: unknown = {}, parent?: string) =>
  event('agent.tool_called', { callId, tool, input, ...(parent === undefined ? {} : { parent }) })
const returned = (callId: string, isError = false) => event('agent.tool_returned', { callId, output: 'x', isError })
const timelineOf = (...events: Event[]) => {
  const timeline = new Timeline()
  timeline.add(events)
  return timeline
}
const names = (rows: ReturnType<typeof rowsOf>) =>
  rows.map((row) => (row.kind === 'tool' ? `${'·'.repeat(row.depth ?? 0)}${row.event.data.tool}` : row.event.type))

describe('the rows of a timeline', () => {
  it('put what a subagent did below the call that started it, also where two work at once, and leave it out where that is folded', () => {
    const [first, second] = [called('a', 'first'), called('b', 'second')]
    const { items } = timelineOf(
      first,
      second,
      called('c', 'of-second', {}, 'b'),
      called('d', 'of-first', {}, 'a'),
      called('e', 'deeper', {}, 'd'),
      called('f', 'own'),
    )
    expect(names(rowsOf(items, 'all', new Set()))).toEqual(['first', '·of-first', '··deeper', 'second', '·of-second', 'own'])
    expect(names(rowsOf(items, 'all', new Set([first.seq])))).toEqual(['first', 'second', '·of-second', 'own'])
  })

  it('are chosen by what somebody looks for', () => {
    const { items } = timelineOf(
      called('a', 'good'),
      returned('a'),
      called('b', 'bad'),
      returned('b', true),
      event('agent.message', { text: 'hello' }),
      event('permission.decided', { verdict: 'denied', tool: 'x', call: 'x', from: 'x', why: 'x' }),
      event('task.requeued', { why: 'answer' }),
      event('task.requeued', { why: 'lost' }),
      event('model.called', { refusal: { kind: 'overloaded', message: 'x' } }),
      event('model.called', {}),
    )
    const some = (filter: Parameters<typeof rowsOf>[1]) => names(rowsOf(items, filter, new Set()))
    expect(some('messages')).toEqual(['agent.message'])
    expect(some('tools')).toEqual(['good', 'bad', 'permission.decided'])
    expect(some('problems')).toEqual(['bad', 'permission.decided', 'task.requeued', 'model.called'])
    expect(some('all')).toHaveLength(7)
  })
})

describe('what the agent means to do', () => {
  it('is the list that it gave last, in the words of any of the programs', () => {
    const todos = (list: object[]) => called('x', 'TodoWrite', { todos: list })
    const { todos: given } = timelineOf(
      todos([{ content: 'a', status: 'pending' }]),
      todos([
        { content: 'a', status: 'completed' },
        { description: 'b', status: 'in_progress' },
      ]),
      called('y', 'TodoWrite', { todos: [{ content: 'of a subagent' }] }, 'x'),
    )
    expect(given).toEqual([
      { text: 'a', state: 'done' },
      { text: 'b', state: 'going' },
    ])
    const plan = [{ step: 'c', status: 'pending' }, 'd']
    expect(timelineOf(called('x', 'update_plan', { plan })).todos.map(({ text }) => text)).toEqual(['c', 'd'])
    expect(timelineOf(event('agent.thinking', { text: 'Plan:\n- [x] e\n- [>] f' })).todos).toEqual([
      { text: 'e', state: 'done' },
      { text: 'f', state: 'going' },
    ])
  })

  it('is kept where its parts are made and changed one by one', () => {
    const { todos } = timelineOf(
      called('a', 'TaskCreate', { subject: 'one' }),
      called('b', 'TaskCreate', { subject: 'two' }),
      called('c', 'TaskUpdate', { taskId: '1', status: 'completed' }),
      called('d', 'TaskUpdate', { taskId: '2', status: 'deleted' }),
    )
    expect(todos).toEqual([{ id: '1', text: 'one', state: 'done' }])
  })
})

describe('an edit', () => {
  const signs = (lines: readonly { sign: string; text: string }[]) =>
    lines.map(({ sign, text }) => (sign === 'gap' ? `~${text}` : `${sign}${text}`))

  it('is shown with the lines that differ and some around them', () => {
    expect(signs(diffOf('1\n2\n3\n4\na\nb\nz', '1\n2\n3\n4\na\nc\nb\nz'))).toEqual([
      '~2 lines unchanged',
      ' 3',
      ' 4',
      ' a',
      '+c',
      ' b',
      ' z',
    ])
    expect(signs(diffOf('', 'new\n'))).toEqual(['+new'])
    expect(signs(diffOf('same', 'same'))).toEqual([' same'])
  })

  it('is known by what a tool is given, whatever it is called', () => {
    const edit = {
      path: 'f',
      lines: [
        { sign: '-', text: 'a' },
        { sign: '+', text: 'b' },
      ],
    }
    expect(editsOf('Edit', { file_path: 'f', old_string: 'a', new_string: 'b' })).toEqual([edit])
    expect(editsOf('edit', { filePath: 'f', oldString: 'a', newString: 'b' })).toEqual([edit])
    expect(editsOf('MultiEdit', { file_path: 'f', edits: [{ old_string: 'a', new_string: 'b' }] })).toEqual([edit])
    expect(editsOf('apply_patch', { changes: [{ path: 'f', diff: '@@ -1 +1 @@\n-a\n+b\n' }] })[0]?.lines.slice(1)).toEqual(
      edit.lines,
    )
    expect(editsOf('Write', { file_path: 'f', content: 'b' })[0]?.lines).toEqual([{ sign: '+', text: 'b' }])
    expect(editsOf('Read', { file_path: 'f', content: 'b' })).toEqual([])
    expect(editsOf('Bash', { command: 'ls' })).toEqual([])
  })

  it('of very many lines is not compared line by line', () => {
    const lines = (word: string) => Array.from({ length: 50_000 }, (_, n) => `${word} ${n}`).join('\n')
    expect(diffOf(lines('a'), lines('b'))).toHaveLength(100_000)
  })
})

describe('the heights of rows', () => {
  it('tell where a row stands and which row is at a place, as adding them up would', () => {
    const heights = new Heights(10)
    const keys = Array.from({ length: 1_000 }, (_, n) => n)
    heights.take(keys)
    const known = keys.map(() => 10)
    for (let n = 0; n < 300; n++) {
      const index = (n * 7919) % 1_000
      known[index] = 5 + (n % 90)
      heights.see(index, known[index]!)
    }
    let sum = 0
    for (const [index, height] of known.entries()) {
      expect(heights.before(index)).toBeCloseTo(sum)
      expect(heights.rowAt(sum + height / 2)).toBe(index)
      sum += height
    }
    expect(heights.total).toBeCloseTo(sum)
    expect(heights.rowAt(sum + 1_000)).toBe(999)
    expect(heights.rowAt(-5)).toBe(0)
  })

  it('stay known when rows come before them, go, and come back', () => {
    const heights = new Heights(10)
    heights.take([1, 2, 3])
    expect(heights.see(1, 50)).toBe(true)
    expect(heights.see(1, 50)).toBe(false)
    heights.take([0, 1, 2, 3, 4])
    expect(heights.before(3)).toBe(70)
    heights.take([1, 3])
    expect(heights.total).toBe(20)
    heights.take([1, 2, 3])
    expect(heights.total).toBe(70)
  })
})
