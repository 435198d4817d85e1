import { expect, test } from 'vitest'
import type { Message } from '../message.ts'
import { payloadOf } from './payload.ts'

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
