import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { revisions, runClientSuite } from './client-suite.ts'

for (const revision of revisions)
  test(`our client of MCP passes every scenario that revision ${revision} requires`, { timeout: 420_000 }, async () => {
    const { code, output } = await runClientSuite(revision)
    const failed = output.split('\n').filter((line) => /^(?:✗|Unexpected|Stale)/.test(line))
    expect({ code, failed: code === 0 ? [] : failed }, output.slice(-6_000)).toEqual({ code: 0, failed: [] })
    // The report that is kept says the same as this run.
    const kept = readFileSync(join(import.meta.dirname, `../../docs/conformance/mcp-client-${revision}.txt`), 'utf8')
    expect(verdicts(output)).toEqual(verdicts(kept))
  })

/** Which scenarios passed; how many checks there were differs from run to run. */
const verdicts = (report: string) =>
  report
    .split('\n')
    .flatMap((line) => /^([✓✗~]) ([\w/.-]+)(?=:)/.exec(line)?.slice(1, 3).join(' ') ?? [])
    .toSorted()
