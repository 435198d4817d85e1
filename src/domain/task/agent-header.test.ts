import { describe, expect, it } from 'vitest'
import { loweredBy, readHeader } from './agent-header.ts'

const header = (status: string, more = '') => `---\nrequest_status: ${status}\n${more}---\nDone as asked.`

describe('the header of an agent', () => {
  it('is a block between lines of dashes at the beginning or at the end of the text', () => {
    const block = '---\nrequest_status: PARTIAL\ncomments: two of three\n---'
    const fields = { request_status: 'PARTIAL', comments: 'two of three' }
    expect(readHeader(`${block}\n\nThe work.`)).toEqual({ status: 'partial', fields, rest: 'The work.' })
    expect(readHeader(`The work.\n\n${block}\n`)).toEqual({ status: 'partial', fields, rest: 'The work.' })
    expect(readHeader(block.replaceAll('\n', '\r\n'))).toMatchObject({ status: 'partial', rest: '' })
  })

  it('counts in any case, with quotes and marks, and only as one of the three', () => {
    for (const written of ['COMPLETE', 'Complete', '"complete"', '`complete`'])
      expect(readHeader(header(written))?.status, written).toBe('complete')
    expect(readHeader('---\n**Request_Status**: failed\n---')?.status).toBe('failed')
    for (const written of ['DONE', 'complete-ish', 'yes']) expect(readHeader(header(written))?.status, written).toBeUndefined()
  })

  it('says nothing where a placeholder stands', () => {
    for (const written of ['none', 'N/A', 'null', '-', '<COMPLETE|PARTIAL|FAILED>', '…', ''])
      expect(readHeader(header(written, 'error: none\n')), written).toEqual({
        status: undefined,
        fields: {},
        rest: 'Done as asked.',
      })
  })

  it('is not seen in prose between rules, in the middle of a text, or in a rule alone', () => {
    for (const text of [
      'First.\n---\nrequest_status: FAILED\n---\nLast.',
      '---\nThis is only a sentence.\n---',
      'One\n---',
      '---',
      '',
      `---\n${'key: value\n'.repeat(60)}request_status: FAILED\n---`,
    ])
      expect(readHeader(text), text.slice(0, 40)).toBeUndefined()
  })

  it('goes on in the next line where that is set in', () => {
    expect(readHeader('---\nerror: the disk\n  is full\nrequest_status: FAILED\n---')?.fields.error).toBe('the disk is full')
  })

  it('takes no time for a long text that is made to be slow', () => {
    const began = performance.now()
    for (const part of ['---\n', '- ', ' :', 'a ', '*'.repeat(50)]) readHeader(`---\n${part.repeat(100_000)}\n---`)
    expect(performance.now() - began).toBeLessThan(20_000)
  })
})

describe('what the agent says of itself', () => {
  it('lowers to partial or failed, with its own words', () => {
    expect(loweredBy(readHeader(header('PARTIAL')))).toEqual({
      outcome: 'partial',
      message: 'The agent says that it did only a part of the work.',
    })
    expect(loweredBy(readHeader(header('failed', 'error: no network\n')))).toEqual({
      outcome: 'failed',
      message: 'The agent says: no network',
    })
  })

  it('changes nothing if it is complete, unclear or missing', () => {
    for (const text of [header('COMPLETE'), header('none'), 'No header.']) expect(loweredBy(readHeader(text))).toBeUndefined()
  })
})

it.each([
  ['blanks', `${' '.repeat(200_000)}!`],
  ['blanks behind a dash', `-${' '.repeat(200_000)}!`],
  ['stars', `${'*'.repeat(200_000)}!`],
  ['blanks behind a key', `key${' '.repeat(200_000)}!`],
])('a line of 200,000 %s is read at once', (_, line) => {
  const startedAt = performance.now()
  readHeader(`---\nrequest_status: partial\n${line}\n---\nDone.`)
  expect(performance.now() - startedAt).toBeLessThan(500)
})
