import type { Command } from 'commander'

export interface TaskOptions {
  agent?: string
  model?: string
  workspace?: string
  scratch?: boolean
  allowHome?: boolean
  workspaceMode?: string
  bringBack?: string
  session?: string
  resetSession?: boolean
  outputSchema?: string
  priority?: string
  tag?: string[]
  timeout?: string
  agentArg?: string[]
  profile?: string
  name?: string
  contextDir?: string[]
  writableDir?: string[]
  attach?: string[]
  mount?: string[]
  allowTool?: string[]
  disallowTool?: string[]
  mcpServers?: string
  appendSystemPrompt?: string
  role?: string
  template?: string
  context?: string
  budgetUsd?: string
  budgetTokens?: string
  budgetTurns?: string
  budgetTime?: string
  budgetRunUsd?: string
  attempts?: string
  backoff?: string
  retryDelay?: string
  retryMaxDelay?: string
  dependsOn?: string[]
  acceptPartial?: boolean
  parent?: string
  review?: boolean
  record?: boolean
  check?: string[]
  checkAttempts?: string
  /** False: none, although the settings name some. */
  checks?: boolean
  once?: boolean
  plan?: boolean
  skipPlanning?: boolean
  failover?: string[]
  answerWithin?: string
  unanswered?: string
  mayAnswer?: string[]
  subtasks?: string
  subtaskDepth?: string
  subtaskShare?: string
  subtasksDone?: string
  subtaskAgent?: string[]
}

/** The arguments of every command that makes a task. */
export function defineTask(command: Command): Command {
  return command
    .argument(
      '[prompt...]',
      'what the agent should do; "-" or nothing reads it from stdin, "-" as the last word appends stdin to it; "--" before one that begins with a dash',
    )
    .option('--agent <name>', 'which agent (PAWL_AGENT); "pawl agents" lists them')
    .option('--model <name>', 'which model the agent uses')
    .option('--workspace <dir>', 'where it works; this folder, or where the session works, if left out')
    .option('--scratch', 'work in an empty folder of its own')
    .option(
      '--allow-home',
      'the workspace, or a --context-dir, may be a home folder or one above; keys and logins in it stay covered',
    )
    .option('--workspace-mode <mode>', 'direct, copy (changes are brought back) or clone (a branch of its own)')
    .option('--bring-back <what>', 'with a clone: "branch" puts its branch into your repository at the end')
    .option('--session <id>', 'go on with that conversation, with its agent; "pawl sessions ls" lists them')
    .option('--reset-session', 'with --session: begin a new conversation in it')
    .option('--output-schema <file>', 'a JSON schema that the answer must fit: a file, or the schema itself as JSON')
    .option('--name <text>', 'what people call it')
    .option('--priority <level>', 'high, normal, low or a number; one step is worth an hour of waiting')
    .option('--tag <name>', 'a label to find it by; may be repeated', collect)
    .option('--timeout <duration>', 'the longest a run may take: 90s, 30m, 2h; 0 for no limit')
    .option('--agent-arg <arg>', 'passed on to the agent program; write --agent-arg=--flag for a flag; may be repeated', collect)
    .option('--profile <name>', 'what it may see and do: guarded, strict, trusted-repo, unattended-open, or one of yours')
    .optionsGroup('What it may use:')
    .option('--context-dir <dir>', 'one more folder that it may read; may be repeated', collect)
    .option('--writable-dir <dir>', 'one more folder that it may read and write; may be repeated', collect)
    .option('--attach <file>', 'a file or picture to go with it; "-" is stdin, NAME=- names it; may be repeated', collect)
    .option('--mount <[alias=]base[/part][:rw]>', 'a folder that the settings offer to tasks; may be repeated', collect)
    .option('--allow-tool <rule>', 'a tool used without asking, as far as the profile allows it; may be repeated', collect)
    .option('--mcp-servers <names>', 'only these of the servers of tools of its agent, with commas between; or none')
    .option('--disallow-tool <rule>', 'a tool it does not have: Bash, or Bash(git push:*); may be repeated', collect)
    .option('--role <name>', 'whose system prompt it has: prompts/NAME.md of the home, with its values put in')
    .option('--template <name>', 'put the prompt into prompts/tasks/NAME.md of the home')
    .option('--context <text>', 'what else that template names; @FILE reads it from a file')
    .option('--append-system-prompt <text>', 'added to the system prompt; @FILE reads it from a file')
    .option('--budget-usd <dollars>', 'what the task may cost, with all its runs and subtasks; 0 for nothing')
    .option('--budget-tokens <count>', 'how many tokens it may use')
    .option('--budget-turns <count>', 'how many turns it may take')
    .option('--budget-time <duration>', 'how long all its runs may take together')
    .option('--budget-run-usd <dollars>', 'what one run may cost')
    .optionsGroup('How it goes on:')
    .option('--depends-on <task>', 'begin when that task is completed: its id or the end of it; may be repeated', collect)
    .option(
      '--accept-partial',
      'begin also after a task that did only a part of its work, or said nothing; otherwise a person decides',
    )
    .option('--parent <task>', 'the task that this one is a part of')
    .option('--attempts <count>', 'how often it is tried in all when a run fails in a way that may pass')
    .option('--backoff <growth>', 'how the wait between tries grows: exponential or linear')
    .option('--retry-delay <duration>', 'the first wait between tries')
    .option('--retry-max-delay <duration>', 'the longest wait between tries')
    .option('--once', 'run it at most once: nothing is tried again, not even after a crash')
    .option('--failover <agent>', 'an agent that goes on while the one before is at its limit; may be repeated', collect)
    .option('--plan', 'ask the agent to plan first, and to split large work into subtasks')
    .option('--skip-planning', 'do not ask it to; as it is unless limits for subtasks are named')
    .option('--subtasks <count>', 'how many subtasks the agent may make; 0 for none')
    .option('--subtask-depth <levels>', 'how deep subtasks may have subtasks')
    .option('--subtask-share <part>', 'the part of the budget that they may use together: 0.5')
    .option('--subtasks-done <what>', 'when all have ended: continue, or review')
    .option('--subtask-agent <name>', 'another agent that subtasks may be given to; may be repeated', collect)
    .option('--answer-within <duration>', 'how long a question waits for its answer; for ever if left out')
    .option('--unanswered <what>', 'then: deny, fail, proceed=ANSWER, escalate=AGENT or escalate=notification:NAME')
    .option('--may-answer <user>', 'only these may answer; may be repeated', collect)
    .optionsGroup('When it is done:')
    .option('--check <command>', 'a command that must pass in the workspace; may be repeated', collect)
    .option('--check-attempts <count>', 'how often the agent is told what did not pass and goes on')
    .option('--no-checks', 'without the checks that the settings name')
    .option('--record', 'keep what is asked of models, so that the run can be replayed')
    .option('--review', 'a person accepts the work before it counts as completed')
}

const collect = (value: string, before: string[] | undefined) => [...(before ?? []), value]
