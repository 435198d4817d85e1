import { expect, test } from 'vitest'
import type { OutboxRow } from '../../../store/tables.ts'
import { type Message, messageOf } from '../message.ts'
import { payloadOf } from './payload.ts'

test('a notification of work that is done only in part does not say that it is completed alone', () => {
  const row = { id: 'out_1', created_at: new Date(0), run_id: null, event: 'task.completed' } as const
  const task = { id: 'tsk_1', name: 'build' }
  const told = (data: Record<string, unknown>) => {
    const message = messageOf({ ...row, body: { task, data } } as unknown as OutboxRow)
    return [message.text, payloadOf(message, { seesDetail: true }).title]
  }
  expect(told({ verified: false })).toEqual(['Task build (tsk_1) is completed.', 'build is completed'])
  expect(told({ verified: false, outcome: 'partial' })).toEqual([
    'Task build (tsk_1) is completed, but only a part of the work was done.',
    'build is completed (partial)',
  ])
  expect(told({ verified: false, outcome: 'empty' })).toEqual([
    'Task build (tsk_1) is completed, but the agent said nothing.',
    'build is completed (empty)',
  ])
})

test('a notification shows by their numbers what its reader would not see: the system that draws it does not', () => {
  const message = {
    id: 'out_1',
    type: 'question.asked',
    timestamp: '2026-01-01T00:00:00Z',
    text: '',
    run: null,
    task: { id: 'tsk_1', name: 'safe\u202Eexe.txt' },
    data: { text: 'May I\u2028run \u001b[8mrm\u200b -rf שלום?' },
  } as unknown as Message
  expect(payloadOf(message, { seesDetail: true })).toMatchObject({
    title: 'safe<U+202E>exe.txt asks',
    body: 'May I<U+2028>run <U+001B>[8mrm<U+200B> -rf \u2068שלום\u2069?',
  })
})
