import { type Conversation, position, userPrompts } from './conversation.ts'
import type { Scenario, Step } from './scenario.ts'

export interface Chosen {
  readonly step: Step
  /** Where it stands in the file, for a person who reads the record: `steps[1]`. */
  readonly name: string
}

/** How often each failing step was given under one key; failures leave no trace in the conversation, so they are counted here. */
export type Counters = Map<string, number>

/**
 * The step for this request. Answers are found by the conversation alone, so a resumed session goes on where it was:
 * with n assistant turns since the last prompt, the answer n + 1. A failing step stands in front of the answer that
 * follows it and is given `repeat` times per key before that answer.
 */
export function chooseStep(scenario: Scenario, conversation: Conversation, counters: Counters): Chosen {
  const { list, steps } = listFor(scenario, userPrompts(conversation))
  let ahead = position(conversation)
  for (const [index, step] of steps.entries()) {
    const name = `${list}[${index}]`
    if (fails(step)) {
      const given = counters.get(name) ?? 0
      if (ahead > 0 || (step.repeat !== 'always' && given >= step.repeat)) continue
      counters.set(name, given + 1)
      return { step, name }
    }
    if (step.repeat === 'always' || ahead < step.repeat) return { step, name }
    ahead -= step.repeat
  }
  return { step: { text: 'The script has ended.', repeat: 1 }, name: 'end' }
}

function listFor(scenario: Scenario, prompts: readonly string[]): { list: string; steps: readonly Step[] } {
  const other = (scenario.instead ?? []).findIndex(({ has }) => prompts[0]?.includes(has))
  if (other >= 0) return { list: `instead[${other}].steps`, steps: scenario.instead![other]!.steps }
  if (scenario.laterSteps && prompts.length > 1) return { list: 'laterSteps', steps: scenario.laterSteps }
  return { list: 'steps', steps: scenario.steps }
}

const fails = (step: Step) => (step.error ?? step.stall ?? step.cut ?? step.malformed) !== undefined
