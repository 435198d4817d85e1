import { describe, expect, it } from 'vitest'
import { resolveByHost, resolveInTurn } from './lookup.ts'

describe('looking names up for a run', () => {
  it('asks for one name at a time, and for a name that is under way not again', async () => {
    const asked: string[] = []
    const answers = new Map<string, (addresses: string[]) => void>()
    const resolve = resolveInTurn((name) => {
      asked.push(name)
      return new Promise((answer) => answers.set(name, answer))
    })
    const [a, again, b] = [resolve('a.example'), resolve('a.example'), resolve('b.example')]
    await new Promise((soon) => setImmediate(soon))
    expect(asked).toEqual(['a.example'])
    answers.get('a.example')!(['1.1.1.1'])
    expect(await Promise.all([a, again])).toEqual([['1.1.1.1'], ['1.1.1.1']])
    await new Promise((soon) => setImmediate(soon))
    expect(asked).toEqual(['a.example', 'b.example'])
    answers.get('b.example')!(['2.2.2.2'])
    expect(await b).toEqual(['2.2.2.2'])
    void resolve('a.example')
    expect(asked).toHaveLength(3)
  })

  it('goes on after a name that nobody knows', async () => {
    const resolve = resolveInTurn(async (name) => {
      if (name === 'bad.example') throw new Error('ENOTFOUND')
      return ['1.1.1.1']
    })
    const [bad, good] = [resolve('bad.example'), resolve('good.example')]
    await expect(bad).rejects.toThrow('ENOTFOUND')
    expect(await good).toEqual(['1.1.1.1'])
  })

  it('knows what the system knows', async () => {
    expect(await resolveByHost('localhost')).toContain('127.0.0.1')
  })
})
