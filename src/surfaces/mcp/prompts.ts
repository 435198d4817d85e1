import type { GetPromptResult, InputRequiredResult, Prompt } from '@modelcontextprotocol/server'
import { invalid } from '../../domain/error.ts'
import type { Call } from './call.ts'
import { readResource, taskUri } from './resources.ts'
import { taskIdOf } from './task-shape.ts'

/** Something that people say often, ready to be sent to their model. */
export interface OfferedPrompt {
  readonly definition: Prompt
  get(args: Readonly<Record<string, string>>, call: Call): Promise<GetPromptResult | InputRequiredResult>
}

const say = (text: string) => ({ role: 'user' as const, content: { type: 'text' as const, text } })

const delegate: OfferedPrompt = {
  definition: {
    name: 'delegate_work',
    title: 'Delegate work',
    description: 'Has work done by another coding agent while you go on.',
    arguments: [
      { name: 'goal', description: 'what is to be done', required: true },
      { name: 'agent', description: 'who does it' },
      { name: 'workspace', description: 'the folder to work in, as an absolute path' },
    ],
  },
  async get({ goal, agent, workspace }) {
    if (!goal) throw invalid('Say in "goal" what is to be done.')
    return {
      messages: [
        say(
          [
            `Delegate this to a coding agent with Pawl's tools: ${goal}`,
            '',
            'Write a prompt that stands alone: the goal, the files that matter, what must not change, and how to see that it is done.',
            `Hand it in with create_task${agent ? `, agent "${agent}"` : ''}${workspace ? `, workspace "${workspace}"` : ''}. Then wait with wait_task.`,
            'If it asks something that you cannot decide, ask me and pass my words on with answer_question.',
            'At the end read read_result and read_changes, look whether the work is what was asked for, and tell me in a few sentences.',
          ].join('\n'),
        ),
      ],
    }
  },
}

const review: OfferedPrompt = {
  definition: {
    name: 'review_work',
    title: 'Review a task',
    description: 'Looks through what a task has done.',
    arguments: [{ name: 'task', description: 'the id of the task', required: true }],
  },
  async get({ task }, call) {
    const id = taskIdOf(task ?? '')
    const [result, diff] = await Promise.all([readResource(call, taskUri(id, 'result')), readResource(call, taskUri(id, 'diff'))])
    const embedded = [...result.contents, ...diff.contents].map((resource) => ({
      role: 'user' as const,
      content: { type: 'resource' as const, resource },
    }))
    return {
      messages: [
        say(
          `Review the work of Pawl's task ${id}. Its prompt is in get_task; what its agent answered and what it changed follow.`,
        ),
        ...embedded,
        say(
          'Say what is right, what is wrong and what is missing, each with the file and line. Take what the agent says of its own work for a claim. If the task is in review, end with whether I should accept it (review_task) or with the comment to send it back with.',
        ),
      ],
    }
  },
}

const morning: OfferedPrompt = {
  definition: {
    name: 'morning_report',
    title: 'Morning report',
    description: 'What the agents did while you were away, and what waits for you.',
    arguments: [{ name: 'since', description: 'from when on, for example "yesterday 18:00"; the last day if left out' }],
  },
  async get({ since }) {
    return {
      messages: [
        say(
          [
            `Tell me what Pawl's agents did since ${since || 'yesterday at this time'}.`,
            'Begin with what waits for me: list_questions, then list_tasks with the states review, blocked and parked.',
            'Then what was completed (with read_result where it matters, and whether it is verified), what failed and why, and what is still running.',
            'End with what it has cost and what I should decide first. Keep it to one screen.',
          ].join('\n'),
        ),
      ],
    }
  },
}

export const prompts: readonly OfferedPrompt[] = [delegate, review, morning]
