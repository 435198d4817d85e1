import { existsSync } from 'node:fs'
import { runCommand } from './run-command.ts'
import { number, type Tool, text } from './tool.ts'

const usualSeconds = 120
const mostSeconds = 600

export const bashTool: Tool = {
  name: 'bash',
  description: `Run a shell command in the workspace and get what it prints. It gets no input, is ended after ${usualSeconds} seconds unless you set timeout, and leaves nothing running behind it.`,
  parameters: {
    type: 'object',
    properties: {
      command: { type: 'string', description: 'The command line.' },
      timeout: { type: 'number', description: `Seconds, at most ${mostSeconds}.` },
    },
    required: ['command'],
  },
  async run(input, { workspace, signal, maxChars }) {
    const seconds = Math.min(Math.max(number(input, 'timeout') ?? usualSeconds, 1), mostSeconds)
    const shell = existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh'
    const limits = { cwd: workspace, timeoutMs: seconds * 1_000, maxBytes: maxChars, signal }
    const { output, code, timedOut } = await runCommand(shell, ['-c', text(input, 'command')], limits)
    const said = output.trimEnd()
    if (timedOut) return { output: `${said}\n[ended after ${seconds} seconds]`.trimStart(), isError: true }
    if (code === 0) return { output: said === '' ? '(it printed nothing)' : said }
    return { output: `${said}\n[${code === null ? 'killed by a signal' : `exit code ${code}`}]`.trimStart(), isError: true }
  },
}
