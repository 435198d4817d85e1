import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { adapters } from '../src/agents/index.ts'
import manifest from './real-agents/package.json' with { type: 'json' }
import { acpPrograms, programNamed } from './real-agents/peer.ts'

const src = join(import.meta.dirname, '../src/agents')
const real = join(import.meta.dirname, 'real-agents')
const textsIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))

/** Programs that the whole list of scenarios is played with, by the adapter that speaks to them. */
const played = textsIn(real)
  .flatMap((text) => [...text.matchAll(/^realProgramContract\((?:programNamed\('([\w-]+)'\)|(\w+))\)/gm)])
  .map(([, agent, constant]) => (constant === 'ollamaLoop' ? 'ollama' : agent!))

/** No program of these is the real one: any command is, and our own is in its folder. */
const fakeOnPurpose = ['custom', 'demo']
/** Its agents are on other machines: one of them is played by the parts that the protocol's library brings, the other by Pawl. */
const elsewhere = { a2a: join(import.meta.dirname, 'a2a-remote') } as const

test.each(adapters.map(({ name }) => name))('the adapter %s is tested with real processes', (name) => {
  const own = textsIn(join(src, name))
  expect(own.some((text) => /^\s*adapterContract\(/m.test(text))).toBe(true)
  const programs = played.map(programNamed).filter(({ adapter }) => adapter === name)
  if (name in elsewhere) {
    const texts = textsIn(elsewhere[name as keyof typeof elsewhere])
    expect(texts.some((text) => text.includes('startPeer('))).toBe(true)
  } else if (fakeOnPurpose.includes(name)) expect(own.some((text) => /scripted\(|fakeAgent|launch\(/.test(text))).toBe(true)
  else expect(programs.map(({ agent }) => agent)).not.toEqual([])
})

test('any ACP program is tried with three different real ones', () => {
  expect(played.filter((agent) => programNamed(agent).adapter === 'acp').toSorted()).toEqual(
    acpPrograms.map(({ agent }) => agent).toSorted(),
  )
  expect(acpPrograms.length).toBeGreaterThanOrEqual(3)
})

test('the newest version that an adapter says was tried is the one that the tests run', () => {
  const pinned: Record<string, string> = { ...manifest.dependencies, ...manifest.optionalDependencies }
  const packages: Record<string, string> = {
    'claude-code': '@anthropic-ai/claude-code',
    codex: '@openai/codex',
    'gemini-cli': '@google/gemini-cli',
    opencode: 'opencode-linux-x64',
  }
  const tried = adapters.flatMap(({ name, tried }) => (tried ? [[name, tried.to]] : []))
  expect(tried).toEqual(Object.entries(packages).map(([name, from]) => [name, pinned[from]]))
})

test('every adapter whose program somebody installs says how', () => {
  const silent = adapters.filter(({ builtin, isOurs, install }) => builtin && !isOurs && install === undefined)
  expect(silent.map(({ name }) => name)).toEqual([])
})
