import { asCommand } from './preset.ts'
import { streamJson } from './stream-json.ts'

export const qwenCode = asCommand({
  name: 'qwen-code',
  title: 'Qwen Code',
  options: {
    command: 'qwen',
    // Safe mode: what a repository brings of hooks, extensions and servers does not count.
    baseArgs: ['--output-format', 'stream-json', '--approval-mode', 'yolo', '--auth-type', 'openai', '--safe-mode'],
    output: 'jsonl',
    map: streamJson,
    modelFlag: '--model',
    systemPromptFlag: '--append-system-prompt',
    resume: ['--resume', '{session}'],
    sessionFiles: ['.qwen/projects/*/chats/{session}.jsonl'],
    missingSession: 'No saved session found',
    wire: 'openai-chat',
    retries: true,
    baseUrlVariable: 'OPENAI_BASE_URL',
    homeFiles: {
      '.qwen/settings.json':
        '{"general":{"enableAutoUpdate":false},"privacy":{"usageStatisticsEnabled":false},"telemetry":{"enabled":false}}\n',
    },
    versionArgs: ['--version'],
  },
  // It would start itself a second time, for more memory than one run needs.
  env: { QWEN_CODE_SUPPRESS_YOLO_WARNING: '1', QWEN_CODE_NO_RELAUNCH: 'true' },
  keys: ['OPENAI_API_KEY'],
  install: 'npm install -g @qwen-code/qwen-code',
  docs: 'https://qwenlm.github.io/qwen-code-docs/en/users/features/headless',
  tried: '0.24.4',
})
