import { asCommand } from './preset.ts'

export const aider = asCommand({
  name: 'aider',
  title: 'Aider',
  options: {
    command: 'aider',
    // What it changes stays for Pawl to keep; it is told the rest of its habits by nobody who is there.
    baseArgs: [
      '--yes-always',
      '--no-auto-commits',
      '--no-pretty',
      '--no-stream',
      '--no-check-update',
      '--no-show-release-notes',
      '--no-show-model-warnings',
      '--no-analytics',
      '--no-gitignore',
    ],
    prompt: 'file',
    promptFlag: '--message-file',
    modelFlag: '--model',
    // With the key of another maker it asks that maker itself.
    wire: 'openai-chat',
    wireKeys: ['OPENAI_API_KEY'],
    baseUrlVariable: 'OPENAI_API_BASE',
    modelPrefix: 'openai/',
    systemPromptVia: 'prefix',
    versionArgs: ['--version'],
    versionPattern: '([0-9]+\\.[0-9]+\\.[0-9]+\\S*)',
  },
  keys: ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GEMINI_API_KEY', 'OPENROUTER_API_KEY', 'DEEPSEEK_API_KEY'],
  install: 'python -m pip install aider-install && aider-install',
  docs: 'https://aider.chat/docs/scripting.html',
  tried: 'untried',
})
