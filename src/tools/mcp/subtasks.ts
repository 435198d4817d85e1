import { z } from 'zod'
import { fenced, named } from '../../domain/base/fenced.ts'
import type { SubtaskVerbs, SubtaskView } from '../../domain/task/subtask.ts'
import { SubtaskAsked } from '../../domain/task/subtask.ts'
import { reading, type Tool, tool } from '../base/tool.ts'

/** What a run is offered whose task may be split. */
export const subtaskTools = (verbs: SubtaskVerbs): Tool[] => [
  tool({
    name: 'create_subtask',
    description:
      'Hand a part of your task to another run: it works in the same workspace after your turn has ended, and sees nothing of this conversation. ' +
      'There is no result in the answer of this tool: make all the subtasks you want, then end your turn. You are told what became of them and go on then.',
    input: SubtaskAsked,
    async run(asked) {
      const { subtask, created } = await verbs.create(asked)
      const which = `Subtask ${subtask.id}${subtask.name === null ? '' : ` (${named(subtask.name)})`}`
      return created
        ? `${which} was made. Make more, or end your turn: it begins then, and you are told what became of it.`
        : `${which} had been made already; it was not made again.`
    },
  }),
  tool({
    name: 'list_subtasks',
    description:
      'List the subtasks that you have made of your task, with their states, and with what those came to that have ended.',
    input: z.strictObject({}),
    annotations: reading,
    async run() {
      const subtasks = await verbs.list()
      return subtasks.length === 0 ? 'There are none.' : subtasks.map(line).join('\n')
    },
  }),
]

const line = ({ id, name, state, text }: SubtaskView) =>
  `${id} ${state}${name === null ? '' : ` "${named(name)}"`}${text ? `; what it came to, in its own words:\n${fenced(text.slice(0, 4_000).toWellFormed())}` : ''}`
