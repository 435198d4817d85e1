import { asCommand } from './preset.ts'

export const kimi = asCommand({
  name: 'kimi',
  title: 'Kimi Code CLI',
  options: {
    command: 'kimi',
    // With a prompt it asks nobody, and refuses every other word about that.
    baseArgs: ['--output-format', 'stream-json'],
    prompt: 'flag',
    promptFlag: '--prompt',
    output: 'jsonl',
    map: { text: 'content', textWhere: { role: 'assistant' }, session: 'session_id' },
    modelVariable: 'KIMI_MODEL_NAME',
    wire: 'openai-chat',
    // It asks ten times.
    retries: true,
    baseUrlVariable: 'KIMI_MODEL_BASE_URL',
    resume: ['--session', '{session}'],
    systemPromptVia: 'prefix',
    versionArgs: ['--version'],
  },
  env: { KIMI_MODEL_PROVIDER_TYPE: 'openai', KIMI_DISABLE_TELEMETRY: '1', KIMI_CODE_NO_AUTO_UPDATE: '1' },
  keys: ['KIMI_MODEL_API_KEY'],
  install: 'curl -fsSL https://code.kimi.com/kimi-code/install.sh | bash',
  docs: 'https://moonshotai.github.io/kimi-code/en/',
  tried: 'untried',
})
