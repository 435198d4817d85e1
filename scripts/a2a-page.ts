import { allBindings, type Requirement, requirements } from '../test/a2a/requirements/list.ts'

/** docs/conformance/a2a.md: what `test/a2a/requirements.test.ts` holds true, rule by rule and binding by binding. */
export function a2aPage(): string {
  const rules = Object.values(requirements as Record<string, Requirement>)
  const reasons: string[] = []
  const cell = (rule: Requirement, binding: (typeof allBindings)[number]) => {
    if (rule.on && !rule.on.includes(binding)) return ''
    const reason = rule.except?.[binding]
    if (reason === undefined) return 'kept'
    if (!reasons.includes(reason)) reasons.push(reason)
    return `no (${reasons.indexOf(reason) + 1})`
  }
  const rows = rules.map(
    (rule) => `| ${rule.section} | ${rule.says} | ${allBindings.map((binding) => cell(rule, binding)).join(' | ')} |`,
  )
  const cells = rules.flatMap((rule) => allBindings.map((binding) => cell(rule, binding))).filter((text) => text !== '')
  const kept = cells.filter((text) => text === 'kept').length
  return `# A2A 1.0.1, rule by rule

Made by \`node scripts/docs.ts\` from the list that \`test/a2a/requirements.test.ts\` tries, with the official SDK's client and with requests that it cannot make, on a real daemon. Every rule for
servers is there in our own words; an empty cell is a rule of another binding. An exception that holds all the same fails the test, so this page cannot be better or worse than what is tried.
The official compatibility kit itself is no part of this: under the four names tried the Python registry has no such package that could be pinned; what answers it is there (\`node test/a2a/kit/serve.ts\`, [a2a.md](../a2a.md)).

${kept} of ${cells.length} are kept.

| Section | A server must | ${allBindings.join(' | ')} |
| --- | --- | ${allBindings.map(() => '---').join(' | ')} |
${rows.join('\n')}

${reasons.map((reason, n) => `${n + 1}. ${reason}`).join('\n')}
`
}
