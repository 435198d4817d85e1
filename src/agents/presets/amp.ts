import { asCommand } from './preset.ts'
import { streamJson } from './stream-json.ts'

export const amp = asCommand({
  name: 'amp',
  title: 'Amp',
  options: {
    command: 'amp',
    baseArgs: ['--execute', '--stream-json', '--dangerously-allow-all'],
    output: 'jsonl',
    map: streamJson,
    // Its maker keeps the threads, so there is no file of them.
    resume: ['threads', 'continue', '{session}'],
    systemPromptVia: 'prefix',
    hosts: ['ampcode.com:443'],
    versionArgs: ['--version'],
  },
  keys: ['AMP_API_KEY'],
  install: 'npm install -g @sourcegraph/amp',
  docs: 'https://ampcode.com/manual',
  tried: 'untried',
})
