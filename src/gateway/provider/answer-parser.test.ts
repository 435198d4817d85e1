import { once } from 'node:events'
import { request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { AnswerParser, MalformedAnswer } from './answer-parser.ts'

interface Heard {
  status: number
  headers: string[]
  body: string
  /** Undefined if it did not end. */
  isKept: boolean | undefined
}

/** What is heard of these bytes, which come in these pieces and are followed by the end of the connection. */
function heard(pieces: readonly Buffer[]): Heard {
  const result: Heard = { status: 0, headers: [], body: '', isKept: undefined }
  const parser = new AnswerParser({
    head(status, headers) {
      Object.assign(result, { status, headers })
    },
    body(bytes) {
      result.body += bytes.toString('latin1')
    },
    end(isKept) {
      expect(result.isKept).toBeUndefined()
      result.isKept = isKept
    },
  })
  for (const piece of pieces) {
    if (result.isKept !== undefined) break
    parser.push(piece)
  }
  if (result.isKept === undefined) parser.finish()
  return result
}

const bytesOf = (text: string) => Buffer.from(text, 'latin1')
const oneByOne = (text: string) => [...text].map(bytesOf)
const ok = 'HTTP/1.1 200 OK\r\n'

describe('an answer', () => {
  it.each<[what: string, text: string, Partial<Heard>]>([
    [
      'with its length',
      `${ok}Content-Type: a/b\r\nContent-Length: 3\r\n\r\nabc`,
      { status: 200, headers: ['Content-Type', 'a/b', 'Content-Length', '3'], body: 'abc', isKept: true },
    ],
    ['without a body', `${ok}content-length: 0\r\n\r\n`, { body: '', isKept: true }],
    ['that has none by its status', 'HTTP/1.1 204 No Content\r\n\r\n', { status: 204, body: '', isKept: true }],
    ['without a reason', 'HTTP/1.1 529\r\ncontent-length: 0\r\n\r\n', { status: 529, isKept: true }],
    [
      'in chunks',
      `${ok}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n`,
      { body: 'abc0123456789', isKept: true },
    ],
    [
      'in chunks with extensions and a trailer',
      `${ok}Transfer-Encoding: Chunked\r\n\r\n3;a="b"\r\nabc\r\n000;x\r\nx-sum: 1\r\nx-more:\r\n\r\n`,
      { body: 'abc', isKept: true },
    ],
    ['that ends with its connection', `${ok}\r\nabc`, { body: 'abc', isKept: false }],
    [
      'in chunks, as it says twice',
      `${ok}transfer-encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`,
      { body: 'a', isKept: true },
    ],
    [
      'in chunks, of an old server',
      'HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n',
      { body: 'a', isKept: false },
    ],
    ['of an old server', 'HTTP/1.0 200 OK\r\ncontent-length: 3\r\n\r\nabc', { body: 'abc', isKept: false }],
    ['that is the last', `${ok}connection: x, Close\r\ncontent-length: 3\r\n\r\nabc`, { body: 'abc', isKept: false }],
    [
      'behind a word that it is still to come',
      `HTTP/1.1 103 Early\r\nlink: x\r\n\r\n${ok}content-length: 1\r\n\r\na`,
      { headers: ['content-length', '1'], body: 'a', isKept: true },
    ],
    [
      'with spaces about a value, and bytes that are no ASCII',
      `${ok}x: \t\xe9 \xa0\t \r\ncontent-length: 0\r\n\r\n`,
      { headers: ['x', '\xe9 \xa0', 'content-length', '0'] },
    ],
  ])('%s is read, in whatever pieces it comes', (_, text, expected) => {
    expect(heard([bytesOf(text)])).toMatchObject(expected)
    expect(heard(oneByOne(text))).toEqual(heard([bytesOf(text)]))
  })

  it.each([
    ['its length', `${ok}content-length: 3\r\n\r\nab`],
    ['its head', `${ok}content-length: 3\r\n`],
    ['a chunk', `${ok}transfer-encoding: chunked\r\n\r\n3\r\nab`],
    ['its last chunk', `${ok}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n`],
    ['its trailer', `${ok}transfer-encoding: chunked\r\n\r\n0\r\n`],
  ])('that breaks off before the end of %s does not end', (_, text) => {
    expect(heard([bytesOf(text)]).isKept).toBeUndefined()
    expect(heard(oneByOne(text)).isKept).toBeUndefined()
  })

  it('that turns out to be none is read up to there', () => {
    const said: string[] = []
    const parser = new AnswerParser({
      head: () => said.push('head'),
      body: (bytes) => said.push(String(bytes)),
      end: () => said.push('end'),
    })
    const text = `${ok}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nno trailer\r\n\r\n`
    expect(() => parser.push(bytesOf(text))).toThrow(MalformedAnswer)
    expect(said).toEqual(['head', 'abc'])
  })

  it('with bytes behind its end is the last of its connection', () => {
    expect(heard([bytesOf(`${ok}content-length: 1\r\n\r\naHTTP/1.1`)])).toMatchObject({ body: 'a', isKept: false })
    expect(heard([bytesOf(`${ok}transfer-encoding: chunked\r\n\r\n0\r\n\r\nx`)])).toMatchObject({ body: '', isKept: false })
  })

  it.each([
    ['no HTTP', 'SSH-2.0-x\r\n\r\n\r\n'],
    ['another HTTP', 'HTTP/2 200\r\n\r\n'],
    ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
    ['a status in the next line', 'HTTP/1.1\r\n200 OK\r\n\r\n'],
    ['a change of protocol', 'HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\n'],
    ['two lengths', `${ok}content-length: 1\r\ncontent-length: 2\r\n\r\nab`],
    ['the same length twice', `${ok}content-length: 1\r\nContent-Length: 1\r\n\r\na`],
    ['two lengths in one', `${ok}content-length: 1, 2\r\n\r\nab`],
    ['a length that is none', `${ok}content-length: +1\r\n\r\na`],
    ['an empty length', `${ok}content-length:\r\n\r\na`],
    ['a length and chunks', `${ok}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`],
    ['another coding', `${ok}transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    ['a header without a name', `${ok}: x\r\n\r\n`],
    ['a header without its colon', `${ok}x\r\n\r\n`],
    ['a space before the colon', `${ok}x : y\r\n\r\n`],
    ['a value over two lines', `${ok}x: y\r\n z\r\n\r\n`],
    ['a line feed alone', `${ok}x: y\nz: a\r\n\r\n`],
    ['a carriage return alone', `${ok}x: y\rz: a\r\n\r\n`],
    ['a zero byte', `${ok}x: \0\r\n\r\n`],
    ['a size that is none', `${ok}transfer-encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n`],
    ['a size and a space', `${ok}transfer-encoding: chunked\r\n\r\n1 \r\na\r\n0\r\n\r\n`],
    ['a size below zero', `${ok}transfer-encoding: chunked\r\n\r\n-1\r\na\r\n0\r\n\r\n`],
    ['a size beyond all', `${ok}transfer-encoding: chunked\r\n\r\nfffffffffffff\r\n`],
    ['a size with a line feed alone', `${ok}transfer-encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n`],
    ['a chunk that is longer than it says', `${ok}transfer-encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n`],
    ['a trailer that is none', `${ok}transfer-encoding: chunked\r\n\r\n0\r\nx\r\n\r\n`],
    ['a head without end', `${ok}${'x: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n'.repeat(3_000)}`],
    ['a size without end', `${ok}transfer-encoding: chunked\r\n\r\n1;${'x'.repeat(3_000)}`],
    [
      'a trailer without end',
      `${ok}transfer-encoding: chunked\r\n\r\n0\r\n${'x: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n'.repeat(3_000)}`,
    ],
  ])('with %s is refused', (_, text) => {
    expect(() => heard([bytesOf(text)])).toThrow(MalformedAnswer)
    expect(() => heard([...text].map(bytesOf))).toThrow(MalformedAnswer)
  })
})

describe('beside the client of Node', () => {
  let bytes: Buffer = Buffer.alloc(0)
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end(bytes))
  })
  server.listen(0, '127.0.0.1')
  afterAll(() => void server.close())

  /** What Node makes of an answer; undefined if it refuses it. */
  async function byNode(answer: Buffer): Promise<Omit<Heard, 'isKept'> | undefined> {
    bytes = answer
    if (!server.listening) await once(server, 'listening')
    const asked = request({ port: (server.address() as AddressInfo).port, agent: false, method: 'POST' })
    // It may come when the answer is long read.
    asked.on('error', () => undefined)
    const response = once(asked, 'response')
    asked.end('x')
    try {
      const [got] = await response
      const body = await buffer(got)
      return { status: got.statusCode, headers: got.rawHeaders, body: body.toString('latin1') }
    } catch {
      return undefined
    }
  }

  const token = fc
    .stringMatching(/^[a-z-]{1,12}$/)
    .filter((name) => !/^(content-length|transfer-encoding|connection|upgrade|trailer)$/.test(name))
  const value = fc.stringMatching(/^[!-~\xa1-\xff]([\t -~\xa1-\xff]{0,20}[!-~\xa1-\xff])?$/)
  const bodyBytes = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('latin1'))
  const answers = fc
    .record({
      status: fc.constantFrom(200, 201, 400, 404, 429, 500, 529),
      headers: fc.array(fc.tuple(token, value), { maxLength: 6 }),
      pieces: fc.array(
        bodyBytes.filter((piece) => piece !== ''),
        { maxLength: 5 },
      ),
      framing: fc.constantFrom('length', 'chunks', 'close'),
    })
    .map(({ status, headers, pieces, framing }) => {
      const body = pieces.join('')
      const framed = {
        length: () => [`Content-Length: ${body.length}`, body],
        chunks: () => [
          'Transfer-Encoding: chunked',
          `${pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('')}0\r\n\r\n`,
        ],
        close: () => ['Connection: close', body],
      }[framing]()
      const lines = [`HTTP/1.1 ${status} Said`, ...headers.map(([name, said]) => `${name}: ${said}`), framed[0]]
      return `${lines.join('\r\n')}\r\n\r\n${framed[1]}`
    })

  const part = fc.nat(1_000).map((thousandth) => thousandth / 1_000)
  const cut = (answer: Buffer, at: readonly number[]) => {
    const ends = [...at.map((where) => Math.floor(where * answer.length)), answer.length].toSorted((a, b) => a - b)
    return ends.map((end, index) => answer.subarray(ends[index - 1] ?? 0, end)).filter((piece) => piece.length > 0)
  }
  const cuts = fc.array(part, { maxLength: 8 })

  it('the same is read of every answer', async () => {
    await fc.assert(
      fc.asyncProperty(answers, cuts, async (text, at) => {
        const { isKept, ...read } = heard(cut(bytesOf(text), at))
        expect(isKept).toBeDefined()
        expect(read).toEqual(await byNode(bytesOf(text)))
      }),
      { numRuns: 150 },
    )
  })

  it('of a damaged one the same is read, or it is refused', async () => {
    const damage = fc.array(
      fc.record({
        at: part,
        drop: fc.nat(3),
        put: fc.constantFrom('', '\r', '\n', '\r\n', '\0', ' ', ':', ',', '0', '1', 'f', 'chunked', 'x', '\xff'),
      }),
      { minLength: 1, maxLength: 3 },
    )
    await fc.assert(
      fc.asyncProperty(answers, damage, cuts, async (text, changes, at) => {
        let damaged = text
        for (const { at: where, drop, put } of changes) {
          const from = Math.floor(where * damaged.length)
          damaged = damaged.slice(0, from) + put + damaged.slice(from + drop)
        }
        let read: Heard
        try {
          read = heard(cut(bytesOf(damaged), at))
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedAnswer)
          return
        }
        const { isKept, ...said } = read
        if (isKept !== undefined) expect(said).toEqual(await byNode(bytesOf(damaged)))
      }),
      { numRuns: 400 },
    )
  })
})
