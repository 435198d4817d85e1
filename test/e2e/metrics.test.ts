import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { metricDefinitions } from '../../src/telemetry/metrics.ts'
import { createRegistry } from '../../src/telemetry/registry.ts'
import { commandAgent, eventsUntil, isResting, loadTestConfig, makeHome, startEngine } from '../engine/home.ts'
import { readPrometheus } from '../protocols/prometheus.ts'

let home: Awaited<ReturnType<typeof makeHome>>
let daemon: Daemon
let token: string
beforeAll(async () => {
  home = await makeHome()
  const config = await loadTestConfig(home.path)
  daemon = await startEngine(home.path, { config: { ...config, server: { ...config.server, port: 0 } }, http: true })
  token = (await readFile(join(home.path, 'token'), 'utf8')).trim()
})
afterAll(async () => {
  await daemon.stop()
  await home.remove()
})
const ask = (given?: string) =>
  fetch(`${daemon.url}/metrics`, given === undefined ? {} : { headers: { authorization: `Bearer ${given}` } })

it('what a daemon does is told in the form that Prometheus reads, every number described, for whoever may look', {
  timeout: 60_000,
}, async () => {
  const agent = (command: string[], name: string) => commandAgent(command, { name, profile: 'unattended-open' })
  const made = [agent(['cat'], 'good "one"\n'), agent(['/bin/sh', '-c', 'exit 3'], 'bad')]
  for (const agentConfig of made) {
    const { task } = await daemon.runtime.createTask({ prompt: 'hello', agentConfig }, { by: 'test' })
    await eventsUntil(daemon, task.id, isResting)
  }
  expect((await ask()).status).toBe(401)
  expect((await ask('wrong')).status).toBe(401)
  const hook = await daemon.entrance.createToken({ kind: 'hook' }, { by: 'test' })
  expect((await ask(hook.token)).status).toBe(403)
  const answer = await ask(token)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  const { types, samples } = readPrometheus(await answer.text())
  expect([...types.keys()].sort()).toEqual(Object.keys(metricDefinitions).sort())

  const numberOf = (name: string, labels: Record<string, string> = {}) =>
    samples.find(
      (sample) => sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    )?.value
  expect([numberOf('pawl_tasks', { state: 'completed' }), numberOf('pawl_tasks', { state: 'failed' })]).toEqual([1, 1])
  expect(numberOf('pawl_runs_ended_total', { agent: 'bad', outcome: 'failed' })).toBe(1)
  expect(numberOf('pawl_run_duration_seconds_count', { agent: 'bad' })).toBe(1)
  expect(numberOf('pawl_events_stored_total', { type: 'run.ended' })).toBe(2)
  expect(numberOf('pawl_queue_oldest_seconds')).toBe(0)
  expect(numberOf('pawl_workers')).toBe(1)
  expect(numberOf('process_resident_memory_bytes')).toBeGreaterThan(10_000_000)
  for (const { name, labels } of samples) {
    const definition = Object.entries(metricDefinitions).find(
      ([known]) => name === known || name.replace(/_(bucket|sum|count)$/, '') === known,
    )
    const known = [...(definition?.[1].labels ?? []), ...(name.endsWith('_bucket') ? ['le'] : [])]
    expect([name, ...Object.keys(labels).sort()]).toEqual([name, ...known.sort()])
  }
})

it('however many names come from outside, a number has at most fifty of each and one for the rest', () => {
  const registry = createRegistry({ calls: { type: 'counter', labels: ['model'], help: 'Calls.' } })
  for (let n = 0; n < 1_000; n++) registry.add('calls', { model: `model-${n}` })
  const { samples } = readPrometheus(registry.render([]))
  expect(samples).toHaveLength(51)
  expect(samples.find(({ labels }) => labels.model === 'other')?.value).toBe(950)
})
