import { relative } from 'node:path'
import type { Reporter, TestModule, TestSpecification } from 'vitest/node'

const everyMs = 20_000
const mostNamed = 15

/** Says now and then how far a test run is and which files it is at; names the slowest files and tests at the end. */
export default class Progress implements Reporter {
  readonly #running = new Map<string, number>()
  #files = 0
  #done = 0
  #startedAt = 0
  #timer: NodeJS.Timeout | undefined

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#files = specifications.length
    this.#startedAt = performance.now()
    this.#timer = setInterval(() => this.#say(), everyMs)
    this.#timer.unref()
  }

  onTestModuleQueued(module: TestModule): void {
    this.#running.set(nameOf(module), performance.now())
  }

  onTestModuleEnd(module: TestModule): void {
    this.#running.delete(nameOf(module))
    this.#done++
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    clearInterval(this.#timer)
    if (modules.length < 2) return
    const tests = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => ({
        name: `${nameOf(module)} > ${test.fullName}`,
        ms: test.diagnostic()?.duration ?? 0,
      })),
    )
    const files = modules.map((module) => ({ name: nameOf(module), ms: module.diagnostic().duration }))
    console.error(`\nSlowest files\n${slowest(files)}\nSlowest tests\n${slowest(tests)}`)
  }

  #say(): void {
    const now = performance.now()
    const running = [...this.#running].map(([name, since]) => `${name} (${clock(now - since)})`)
    const share = Math.round((this.#done / this.#files) * 100)
    console.error(`${clock(now - this.#startedAt)}  ${this.#done} of ${this.#files} files, ${share} %; at ${running.join(', ')}`)
  }
}

const nameOf = (module: TestModule) => relative(process.cwd(), module.moduleId)

const clock = (ms: number) =>
  `${Math.floor(ms / 60_000)}:${Math.floor((ms % 60_000) / 1000)
    .toString()
    .padStart(2, '0')}`

const slowest = (all: readonly { readonly name: string; readonly ms: number }[]) =>
  all
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, mostNamed)
    .map(({ name, ms }) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${name}`)
    .join('\n')
