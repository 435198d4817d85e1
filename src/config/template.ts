import type { Adapter } from '../agents/port.ts'
import { formatDuration } from './duration.ts'
import { defaultBudget, defaults } from './schema.ts'

/** What `pawl init` writes. A line that starts with `##` explains; a line that starts with `# ` is an example: take the `# ` away to use it. */
export function initTemplate(adapters: readonly Pick<Adapter, 'name' | 'builtin'>[]): string {
  const builtin = adapters.flatMap((adapter) => (adapter.builtin ? [adapter.builtin.name] : []))
  const hasCustom = adapters.some((adapter) => adapter.name === 'custom')
  return `## Settings of Pawl for this folder and those below it.
## They win over config.yaml in Pawl's home (~/.pawl, or PAWL_HOME). Everything here may be left out.
## Lines that start with "# " are examples: take the "# " away to use them.
## Keys that run something, point somewhere or widen rights count only after "pawl trust".
## What is in force, and from where: pawl config show
${builtin.length > 0 ? `\n## Agents that are there without any settings: ${builtin.join(', ')}.` : ''}
${hasCustom ? customExample : agentsExample(adapters)}${modelsExample}${profileExample}
## How many runs at once, in all.
# limits:
#   running: ${defaults.limits.running}

## How long one run may take, and how long an agent may do nothing at all. 0 means no limit.
# timeouts:
#   total: ${formatDuration(defaults.timeouts.total)}
#   idle: ${formatDuration(defaults.timeouts.idle)}

## Tries in all, the first one included, and the pauses between them.
# retry:
#   attempts: ${defaults.retry.attempts}
#   baseDelay: ${formatDuration(defaults.retry.baseDelay)}
#   maxDelay: ${formatDuration(defaults.retry.maxDelay)}
`
}

const profileExample = `
## What runs may see and do. Built in: strict, guarded (used where none is named), trusted-repo, unattended-open.
## "pawl profile show guarded" prints one whole; "pawl profile explain 'Bash(git push)'" says which rule decides.
# profiles:
#   careful:
#     extends: guarded
#     rules:
#       ask: ["Bash(git push:*)"]
#       deny: ["Write(**/.env)"]
#     network: { allow: [docs.example.com] }
#     limits: { memory: 2g, processes: 256 }
`

const modelsExample = `
## Who serves models, and the names that agents and tasks have for them ("model: local", "pawl run --model local"). Keys are named, never written.
## "pawl models --check" tries them.
# providers:
#   here: { kind: openai-compatible, baseUrl: "http://127.0.0.1:11434/v1" }
#   shop: { kind: openai-compatible, baseUrl: "https://models.example.com/v1", key: { env: SHOP_KEY } }
# models:
#   local: { provider: here, target: "qwen3:8b" }
#   fast: { provider: shop, target: vendor/fast-1 }
`

const customExample = `
## Any command can be an agent. The prompt comes to it on stdin, as a file, or as an argument; what it prints is the answer.
## A path is seen from this file.
# agents:
#   helper:
#     adapter: custom
#     command: [./my-agent, --batch]
#     prompt: stdin
#     output: text
#     timeout: ${formatDuration(defaults.timeouts.total)}
#     budget: { usd: ${defaultBudget.usd} }

## The agent for tasks that name none.
# defaultAgent: helper
`

/** Without a command adapter the examples can only adjust the agents that are there. */
const agentsExample = (adapters: readonly Pick<Adapter, 'name' | 'builtin'>[]) => {
  const first = adapters.find((adapter) => adapter.builtin)?.builtin?.name
  return first === undefined ? '' : `\n## The agent for tasks that name none.\n# defaultAgent: ${first}\n`
}
