import { asCommand } from './preset.ts'
import { streamJson } from './stream-json.ts'

export const cursorAgent = asCommand({
  name: 'cursor-agent',
  title: 'Cursor CLI',
  options: {
    command: 'cursor-agent',
    baseArgs: ['--print', '--force', '--trust', '--output-format', 'stream-json'],
    // It takes its prompt in no other way; what comes by stdin is only put behind it.
    prompt: 'arg',
    output: 'jsonl',
    map: streamJson,
    modelFlag: '--model',
    resume: ['--resume', '{session}'],
    systemPromptVia: 'prefix',
    hosts: ['*.cursor.sh:443', '*.cursor.com:443'],
    versionArgs: ['--version'],
  },
  keys: ['CURSOR_API_KEY'],
  install: 'curl https://cursor.com/install -fsS | bash',
  docs: 'https://cursor.com/docs/cli/headless',
  tried: 'untried',
})
