import { expect, it } from 'vitest'
import { custom } from '../../../agents/custom/agent.ts'
import { demo } from '../../../agents/demo/agent.ts'
import { SubtaskLimits, type TaskSpec } from '../../../domain/task/spec.ts'
import { isPlanned, planningPreamble } from './planning.ts'

const planned = (spec: TaskSpec, depth = 0) => isPlanned({ spec, depth })

it('a task is planned if it says so, or if it says how far it may be split and nothing else', () => {
  expect(planned({})).toBe(false)
  expect(planned({ skipPlanning: false })).toBe(true)
  expect(planned({ subtasks: SubtaskLimits.parse({}) })).toBe(true)
  expect(planned({ subtasks: SubtaskLimits.parse({}), skipPlanning: true })).toBe(false)
})

it('a task that may not be split is not asked to plan', () => {
  expect(planned({ subtasks: SubtaskLimits.parse({ most: 0 }), skipPlanning: false })).toBe(false)
  expect(planned({ skipPlanning: false }, 2)).toBe(false)
  expect(planned({ skipPlanning: false, once: true })).toBe(false)
})

it('an agent is told of the tool if it takes tools of ours, and of the address if it does not', () => {
  const tool = planningPreamble({ spec: {} }, { can: { ...demo.can, mcp: true } })
  expect(tool).toContain('create_subtask')
  expect(tool).not.toContain('curl')
  const plain = planningPreamble({ spec: {} }, custom)
  expect(plain).toContain('"$PAWL_API_URL/v1/subtasks"')
  expect(plain).toContain('3 to 7 subtasks')
})

it('an agent that plans is asked for an estimate first, and for commits and a summary at the end', () => {
  const asked = planningPreamble({ spec: {} }, custom)
  expect(asked).toMatch(/^Before you begin, estimate .*commit everything that belongs to it\..*"## Summary"\.\n\nThe task:$/s)
})
